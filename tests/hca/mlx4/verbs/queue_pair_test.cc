// Reliable connections over two modelled adapters.
#include "hca/mlx4/verbs/queue_pair.h"

#include <endian.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "hca/mlx4/core/verbs_attributes.h"
#include "hca/mlx4/verbs/verbs_provider.h"
#include "tests/hca/mlx4/verbs_bench.h"

namespace ibemu::hca::mlx4 {
namespace {

namespace status = verbs::wc_status;
using ::testing::Contains, ::testing::ElementsAre, ::testing::IsEmpty,
    ::testing::Pair, ::testing::SizeIs, ::testing::UnorderedElementsAre;
using verbs::EventType, verbs::QpState;

class QueuePairTest : public VerbsBench {};

TEST_F(QueuePairTest, SendsAMessageIntoTheOthersMemory) {
  Connect();
  const std::string text = Pattern(10000);
  a_->memory->Put(100, text);
  ASSERT_TRUE(b_->Receive(5000, 20000).ok());
  ASSERT_TRUE(a_->Send(100, text.size()).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wr_id, 100u);
  EXPECT_EQ(received[0].status, status::kSuccess);
  EXPECT_EQ(received[0].opcode, verbs::wc_opcode::kReceive);
  EXPECT_EQ(received[0].byte_len, text.size());
  EXPECT_EQ(received[0].qp_num, b_->qp->number());
  EXPECT_EQ(b_->memory->Text(5000, text.size()), text);
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kSuccess)));
}

TEST_F(QueuePairTest, CarriesAnImmediateAndNoBytes) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND_WITH_IMM, 0, 0);
  request.work.ex.imm_data = htobe32(0xcafe);
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Run();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].wc_flags, verbs::wc_flag::kWithImmediate);
  EXPECT_EQ(be32toh(received[0].ex.imm_data), 0xcafeu);
  EXPECT_EQ(received[0].byte_len, 0u);
}

TEST_F(QueuePairTest, SendsWhatWasInlineAsItWasWhenItWasPosted) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  auto request = a_->Request(IB_UVERBS_WR_SEND, 0, 0);
  request.inline_data = std::make_shared<std::vector<std::byte>>(
      std::vector{std::byte{'h'}, std::byte{'i'}});
  ASSERT_TRUE(a_->Post(request).ok());
  request.inline_data = std::make_shared<std::vector<std::byte>>(65);
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Post(request)))
      << "more than the queue pair was made for";
  Run();
  EXPECT_EQ(b_->memory->Text(0, 2), "hi");
}

TEST_F(QueuePairTest, KeepsTheOrderOfManyMessagesOfAnyLength) {
  Connect();
  b_->memory->SetDelay(absl::Microseconds(3));
  a_->memory->Put(0, Pattern(1000));
  VerbsEnd::Ends sent, received;
  // Both queues of the adapter go round.
  for (uint64_t round = 0; round < 4; ++round) {
    for (uint64_t i = 0; i < 100; ++i) {
      ASSERT_TRUE(b_->Receive(i * 2000, 2000, i).ok());
      ASSERT_TRUE(a_->Send(i, i * 9, i).ok()) << i;
    }
    EXPECT_TRUE(absl::IsResourceExhausted(a_->Send(0, 1))) << "100 are there";
    EXPECT_TRUE(absl::IsResourceExhausted(b_->Receive(0, 1)));
    Run(absl::Milliseconds(20));
    const auto got = b_->Poll();
    ASSERT_THAT(got, SizeIs(100));
    for (uint64_t i = 0; i < 100; ++i) {
      EXPECT_EQ(got[i].wr_id, i);
      EXPECT_EQ(got[i].byte_len, i * 9);
      EXPECT_EQ(b_->memory->Text(i * 2000, i * 9),
                Pattern(1000).substr(i, i * 9));
    }
    const auto ends = a_->PollEnds();
    ASSERT_THAT(ends, SizeIs(100));
    for (uint64_t i = 0; i < 100; ++i) EXPECT_EQ(ends[i].first, i);
  }
}

TEST_F(QueuePairTest, CarriesTheLongestMessageAndRefusesALongerOne) {
  Connect();
  a_->memory->Put(0, Pattern(kMaxMessage));
  ASSERT_TRUE(b_->Receive(0, kMaxMessage).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage, 1).ok());
  ASSERT_TRUE(a_->Send(0, kMaxMessage + 1, 2).ok());
  Run(absl::Milliseconds(20));
  EXPECT_EQ(b_->memory->Text(0, kMaxMessage), Pattern(kMaxMessage));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalLength)));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_F(QueuePairTest, TakesAReceiveRequestThatIsLongerThanAnyMessage) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, VerbsEnd::kSize).ok());
  ASSERT_TRUE(b_->Receive(0, 5 << 20).ok());
  ASSERT_TRUE(a_->Send(0, 100).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(100u, status::kSuccess)));
}

TEST_F(QueuePairTest, EndsBothSidesWhenAMessageIsLongerThanItsReceiveRequest) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(b_->Receive(0, 10, 2).ok());
  ASSERT_TRUE(a_->Send(0, 11).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kLocalLength),
                                          Pair(2u, status::kFlushed)));
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7u, status::kRemoteInvalidRequest)));
  EXPECT_THAT(b_->events, Contains(EventType::kQpRequestError));
}

TEST_F(QueuePairTest, FailsASendWhoseKeyIsWrongInItsTurn) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  auto wrong = a_->Request(IB_UVERBS_WR_SEND, 0, 10, 2);
  wrong.sges[0].lkey ^= 0x100;
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Post(wrong).ok());
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kSuccess),
                                          Pair(2u, status::kLocalProtection),
                                          Pair(3u, status::kFlushed)));
  EXPECT_THAT(b_->PollEnds(), SizeIs(1));
}

TEST_F(QueuePairTest, FailsASendWhoseMemoryIsNotThere) {
  Connect();
  a_->mr = *a_->provider.CreateMr({.pd = a_->pd.get(),
                                   .memory = a_->memory,
                                   .start = FakeMemory::kStart,
                                   .length = 2 * VerbsEnd::kSize,
                                   .address = FakeMemory::kStart,
                                   .access = verbs::access::kLocalWrite});
  ASSERT_TRUE(a_->Send(VerbsEnd::kSize, 10, 2).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(2u, status::kLocalProtection)));
}

TEST_F(QueuePairTest, RefusesAMessageForAReceiveRequestWhoseKeyIsWrong) {
  Connect();
  std::vector<verbs::ReceiveRequest> requests = {
      {.id = 4, .sges = {b_->Sge(0, 100)}}};
  requests[0].sges[0].lkey ^= 0x100;
  size_t taken = 0;
  ASSERT_TRUE(b_->qp->PostReceive(requests, taken).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(4u, status::kLocalProtection)));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7u, status::kRemoteOperation)));
}

TEST_F(QueuePairTest, TellsAReceiverWhoseMemoryWentMeanwhile) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 100, 1).ok());
  ASSERT_TRUE(b_->Receive(0, 100, 2).ok());
  b_->mr.reset();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(20));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1u, status::kLocalProtection),
                                          Pair(2u, status::kFlushed)));
  EXPECT_THAT(b_->events, Contains(EventType::kQpAccessError));
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_F(QueuePairTest, ShowsACompletionOnlyWhenTheMessageIsInPlace) {
  Connect();
  b_->memory->SetDelay(absl::Milliseconds(3));
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(2));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  EXPECT_THAT(a_->Poll(), SizeIs(1)) << "the adapter has taken it";
  Run(absl::Milliseconds(4));
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_F(QueuePairTest, GivesUpWhenTheReceiverIsNotReadyForTooLong) {
  Connect();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run(absl::Milliseconds(50));
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7u, status::kRnrRetriesExceeded)));
}

TEST_F(QueuePairTest, GivesUpWhenNobodyAnswers) {
  Connect();
  b_->Forget();
  ASSERT_TRUE(a_->Send(0, 10, 1).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  Run(absl::Milliseconds(200));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1u, status::kRetriesExceeded),
                                          Pair(2u, status::kFlushed)));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_F(QueuePairTest, FlushesWhatWasPostedWhenItIsSetToError) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 2).ok());
  a_->Modify({}, QpState::kError);
  ASSERT_TRUE(a_->Send(0, 10, 3).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 4).ok());
  Run(absl::Milliseconds(20));
  auto ends = a_->PollEnds();
  std::ranges::sort(ends);
  EXPECT_THAT(
      ends,
      ElementsAre(Pair(1u, status::kFlushed), Pair(2u, status::kFlushed),
                  Pair(3u, status::kFlushed), Pair(4u, status::kFlushed)));
}

TEST_F(QueuePairTest, MayBeResetAndUsedAgain) {
  Connect();
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  a_->Modify({}, QpState::kReset);
  b_->Modify({}, QpState::kReset);
  EXPECT_EQ(a_->State(), QpState::kReset);
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Send(0, 1)));
  EXPECT_TRUE(absl::IsInvalidArgument(a_->Receive(0, 1)));
  a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)));
  b_->Connect(VerbsEnd::Towards(a_->qp->number(), LidOf(*device_a_)));
  a_->memory->Put(0, "again");
  ASSERT_TRUE(b_->Receive(100, 10, 5).ok());
  ASSERT_TRUE(a_->Send(0, 5).ok());
  Run();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(5u, status::kSuccess)));
  EXPECT_EQ(b_->memory->Text(100, 5), "again");
}

TEST_F(QueuePairTest, RefusesWhatItDoesNotHave) {
  Connect();
  for (const uint32_t opcode : {IB_UVERBS_WR_SEND_WITH_INV,
                                IB_UVERBS_WR_BIND_MW, IB_UVERBS_WR_LOCAL_INV}) {
    EXPECT_TRUE(absl::IsInvalidArgument(a_->Post(a_->Request(opcode, 0, 8))))
        << opcode;
  }
  verbs::QpInit init;
  init.type = verbs::QpType::kGsi;
  EXPECT_TRUE(absl::IsUnimplemented(a_->provider.CreateQp(init, *a_).status()));
  EXPECT_TRUE(absl::IsUnimplemented(
      a_->provider
          .CreateMr({.pd = a_->pd.get(),
                     .memory = a_->memory,
                     .start = FakeMemory::kStart,
                     .length = 10,
                     .address = 0,
                     .access = verbs::access::kLocalWrite |
                               verbs::access::kRemoteRead})
          .status()));
}

TEST_F(QueuePairTest, TellsWhatItIs) {
  Connect();
  const verbs::QpAttributes now = a_->qp->Query();
  EXPECT_EQ(now.qp_state, static_cast<uint32_t>(QpState::kReadyToSend));
  EXPECT_EQ(now.dest_qp_num, b_->qp->number());
  EXPECT_EQ(now.sq_psn, 0xfffffeu);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_EQ(a_->qp->Query().sq_psn, 0xffffffu);
  EXPECT_EQ(b_->qp->Query().rq_psn, 0xffffffu);
}

TEST_F(QueuePairTest, ConnectsByGid) {
  Make({}, {});
  const auto by_gid = [](verbs::QpAttributes to, Mlx4Device& device) {
    const wire::Gid gid = device.port(1).GidAt(0);
    to.ah_attr.is_global = 1;
    to.ah_attr.grh.hop_limit = 1;
    for (size_t i = 0; i < 8; ++i) {
      to.ah_attr.grh.dgid[i] = static_cast<uint8_t>(gid.prefix >> (56 - 8 * i));
      to.ah_attr.grh.dgid[8 + i] =
          static_cast<uint8_t>(gid.interface_id >> (56 - 8 * i));
    }
    return to;
  };
  a_->Connect(by_gid(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)),
                     *device_b_));
  b_->Connect(by_gid(VerbsEnd::Towards(a_->qp->number(), LidOf(*device_a_)),
                     *device_a_));
  a_->memory->Put(0, "global");
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 6).ok());
  Run();
  EXPECT_EQ(b_->memory->Text(0, 6), "global");
}

TEST_F(QueuePairTest, TellsAReceiverThatSomebodySpeaks) {
  Make({}, {});
  a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)));
  const verbs::QpAttributes to =
      VerbsEnd::Towards(a_->qp->number(), LidOf(*device_a_));
  namespace attribute = verbs::qp_attribute;
  b_->Modify(
      to, QpState::kInit,
      attribute::kPKeyIndex | attribute::kPort | attribute::kAccessFlags);
  b_->Modify(to, QpState::kReadyToReceive,
             attribute::kAddress | attribute::kPathMtu |
                 attribute::kDestinationQp | attribute::kReceivePsn |
                 attribute::kMaxReadsHere | attribute::kMinRnrTimer);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  EXPECT_TRUE(absl::IsInvalidArgument(b_->Send(0, 1))) << "not yet";
  ASSERT_TRUE(a_->Send(0, 6).ok());
  Run();
  EXPECT_THAT(b_->events, ElementsAre(EventType::kCommunicationEstablished));
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_F(QueuePairTest, HoldsSendsBackWhileItIsDrained) {
  Connect();
  verbs::QpAttributes drain{};
  drain.en_sqd_async_notify = 1;
  a_->Modify(drain, QpState::kSendQueueDrain,
             verbs::qp_attribute::kNotifyDrained);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  EXPECT_THAT(a_->events, ElementsAre(EventType::kSendQueueDrained));
  EXPECT_THAT(b_->Poll(), IsEmpty());
  EXPECT_EQ(a_->State(), QpState::kSendQueueDrain);
  a_->Modify({}, QpState::kReadyToSend);
  Run();
  EXPECT_THAT(b_->Poll(), SizeIs(1));
}

TEST_F(QueuePairTest, RefusesTransitionsThatTheSpecificationDoesNotHave) {
  Make({}, {});
  verbs::QpAttributes to{};
  to.qp_state = static_cast<uint32_t>(QpState::kReadyToSend);
  to.qp_attr_mask = verbs::qp_attribute::kState;
  EXPECT_TRUE(absl::IsInvalidArgument(a_->qp->Modify(to)));
  EXPECT_EQ(a_->State(), QpState::kReset);
}

TEST_F(QueuePairTest, LeavesNothingBehind) {
  Connect();
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Run();
  a_.reset();
  b_.reset();
  device_a_.reset();
  device_b_.reset();
  EXPECT_EQ(host_a_.function->mapped(), 0u);
  EXPECT_EQ(host_a_.function->faults(), 0);
  EXPECT_EQ(host_a_.model.violations(), 0);
  EXPECT_EQ(host_b_.function->faults(), 0);
}

// Who forgets and begins again can't have more than others.
TEST_F(QueuePairTest, AForgottenSendHoldsItsMemoryUntilItIsFetched) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(1));
  auto& memory =
      static_cast<VerbsProvider&>(device_a_->provider()).send_memory();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  const size_t one = memory.in_use();
  EXPECT_GT(one, 0u);
  a_->Modify({}, QpState::kReset);
  EXPECT_EQ(memory.in_use(), one);
  a_->Connect(VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_)));
  ASSERT_TRUE(a_->Send(0, 10).ok());
  EXPECT_EQ(memory.in_use(), 2 * one);
  a_->qp.reset();
  Run();
  EXPECT_EQ(memory.in_use(), 0u);
}

TEST_F(QueuePairTest, TheDeviceMayGoWhileASendIsFetched) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(1));
  ASSERT_TRUE(a_->Send(0, 10).ok());
  a_->qp.reset();
  device_a_.reset();
  Run();
  EXPECT_EQ(host_a_.function->mapped(), 0u);
}

TEST_F(QueuePairTest, FlushesSendsThatAReceiveErrorOvertakes) {
  Connect();
  a_->memory->SetDelay(absl::Milliseconds(4));
  std::vector<verbs::ReceiveRequest> wrong = {
      {.id = 1, .sges = {a_->Sge(0, 10)}}};
  wrong[0].sges[0].lkey ^= 0x100;
  size_t taken = 0;
  ASSERT_TRUE(a_->qp->PostReceive(wrong, taken).ok());
  ASSERT_TRUE(a_->Send(0, 10, 2).ok());
  ASSERT_TRUE(b_->Send(0, 10).ok());
  Run(absl::Milliseconds(20));
  EXPECT_THAT(a_->PollEnds(),
              UnorderedElementsAre(Pair(1u, status::kLocalProtection),
                                   Pair(2u, status::kFlushed)));
}

TEST_F(QueuePairTest, FlushesReceivesThatWaitForMemoryWhenASendFails) {
  Connect();
  Options same;
  same.memory = a_->memory;
  VerbsEnd other(timers_, device_a_->provider(), same);
  const auto to = VerbsEnd::Towards(b_->qp->number(), LidOf(*device_b_));
  namespace attribute = verbs::qp_attribute;
  other.Modify(
      to, QpState::kInit,
      attribute::kPKeyIndex | attribute::kPort | attribute::kAccessFlags);
  for (int i = 0; i < 30; ++i) ASSERT_TRUE(other.Receive(0, 2 << 20).ok());
  ASSERT_TRUE(a_->Receive(0, 10, 1).ok());
  auto wrong = a_->Request(IB_UVERBS_WR_SEND, 0, 10, 2);
  wrong.sges[0].lkey ^= 0x100;
  ASSERT_TRUE(a_->Post(wrong).ok());
  Run();
  EXPECT_THAT(a_->PollEnds(),
              UnorderedElementsAre(Pair(1u, status::kFlushed),
                                   Pair(2u, status::kLocalProtection)));
}

}  // namespace
}  // namespace ibemu::hca::mlx4
