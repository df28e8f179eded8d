#include "fabric/soft_hca/queue_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>

#include "fabric/packet/transport.h"
#include "tests/fabric/verbs_pair.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {
namespace {

using ::testing::AllOf, ::testing::Each, ::testing::ElementsAre,
    ::testing::IsEmpty, ::testing::SizeIs;
using verbs::QpState, verbs::QpType;

constexpr size_t kMebibyte = size_t{1} << 20;

class QueuePairTest : public VerbsPair {};

// The second message arrives out of sequence, for want of the first.
TEST_F(QueuePairTest, TwoMessagesWaitForOneReceiverWithoutHaste) {
  Connect(QpType::kRc);
  const auto& sent = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  const uint64_t before = sent;
  ASSERT_TRUE(a_->Send(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  lab_.timers.RunPending();
  EXPECT_EQ(sent - before, 2u);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess,
                                              verbs::wc_status::kSuccess));
  EXPECT_EQ(sent - before, 4u);
}

// The end of the read would start the retry timer, which is the shorter one.
TEST_F(QueuePairTest, RepeatsNothingWhileItWaitsForAReceiver) {
  Connect(QpType::kRc);
  verbs::QpAttributes patient{};
  patient.qp_attr_mask = verbs::qp_attribute::kMinRnrTimer;
  patient.min_rnr_timer = 0;  // 655.36 ms
  ASSERT_TRUE(b_->qp->Modify(patient).ok());
  a_->memory->SetDelay(absl::Milliseconds(1));
  const auto& sent = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  const uint64_t before = sent;
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *b_, 0).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle(absl::Milliseconds(600));
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(sent - before, 2u);
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(sent - before, 3u);
}

TEST_F(QueuePairTest, LosesWhatMemoryIsTooSlowForOnAnUnreliableConnection) {
  Connect(QpType::kUc);
  b_->memory->SetDelay(absl::Milliseconds(1));
  constexpr int kWrites = 30;
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, kMebibyte, *b_, 0).ok());
  }
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(kWrites + 1), Each(0u)));
  EXPECT_LT(b_->memory->most_waiting, kWrites * kMebibyte);
  EXPECT_THAT(b_->Poll(), IsEmpty());

  a_->memory->Put(0, "in time");
  ASSERT_TRUE(a_->Send(0, 7).ok());
  Settle();
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->memory->Text(0, 7), "in time");
}

// 2^31 bytes in packets of 256 take half of all sequence numbers.
TEST_F(QueuePairTest, BeginsTheLongestMessageWhenNoneIsOutstanding) {
  constexpr uint32_t kMtu256 = 1;
  Connect(QpType::kRc, kMtu256);
  constexpr size_t kLongest = size_t{1} << 31;
  const auto wide = *a_->provider.CreateMr({.pd = a_->pd.get(),
                                            .memory = a_->memory,
                                            .start = FakeMemory::kStart,
                                            .length = kLongest,
                                            .address = FakeMemory::kStart,
                                            .access = VerbsEnd::kAllRights});
  const auto target = *b_->provider.CreateMr({.pd = b_->pd.get(),
                                              .memory = b_->memory,
                                              .start = FakeMemory::kStart,
                                              .length = kLongest,
                                              .address = FakeMemory::kStart,
                                              .access = VerbsEnd::kAllRights});
  b_->memory->SetDelay(absl::Milliseconds(1));
  const auto& sent = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  const uint64_t before = sent;
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  verbs::SendRequest request = a_->Request(IB_UVERBS_WR_RDMA_READ, 0, kLongest);
  request.sges[0].lkey = wide->lkey();
  request.work.wr.rdma.remote_addr = FakeMemory::kStart;
  request.work.wr.rdma.rkey = target->rkey();
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  lab_.timers.RunFor(absl::Microseconds(500));
  EXPECT_EQ(sent - before, 1u) << "the read waits for its turn";
  Settle();
  EXPECT_GT(sent - before, VerbsEnd::kSize / verbs::kChunk) << "it began";
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kSuccess,
                          verbs::wc_status::kRemoteOperation))
      << "there are not so many bytes";
}

TEST_F(QueuePairTest, CountsADatagramWithAnotherQKeyAtThePort) {
  Connect(QpType::kUd);
  verbs::AddressAttributes to{};
  to.dlid = 2;
  to.port_num = 1;
  const auto ah = *a_->provider.CreateAh(*a_->pd, to);
  verbs::SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, 8);
  request.address = ah.get();
  request.work.wr.ud.remote_qpn = b_->qp->number();
  request.work.wr.ud.remote_qkey = VerbsEnd::kQKey ^ 1;
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  EXPECT_EQ(lab_.PortOf(lab_.Host(2), 1).info.q_key_violations, 1);
}

TEST_F(QueuePairTest, CountsWhatItSendsInThePortsItPasses) {
  Connect(QpType::kRc);
  const uint64_t before = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 4096, *b_, 0).ok());
  Settle();
  const NodePort& port = lab_.PortOf(lab_.Host(1), 1);
  EXPECT_EQ(port.traffic.xmit_packets - before, 4u);
  EXPECT_GE(port.traffic.xmit_data, 4096u / 4);
}

// Four may be outstanding.
TEST_F(QueuePairTest, SeveralReadsAreUnderWayAtOnceAndNoneIsRepeated) {
  Connect(QpType::kRc);
  const auto& sent = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  const uint64_t before = sent;
  for (size_t i = 0; i < 12; ++i) {
    const std::string text = Pattern(3000 + i);
    b_->memory->Put(4000 * i, text);
    ASSERT_TRUE(
        a_->Rdma(IB_UVERBS_WR_RDMA_READ, 4000 * i, text.size(), *b_, 4000 * i)
            .ok());
  }
  lab_.timers.RunPending();
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(12), Each(0u)));
  EXPECT_EQ(sent - before, 12u);
  for (size_t i = 0; i < 12; ++i) {
    EXPECT_EQ(a_->memory->Text(4000 * i, 3000 + i), Pattern(3000 + i));
  }
}

TEST_F(QueuePairTest, LongReadsDoNotPileUpBeforeSlowMemory) {
  Connect(QpType::kRc);
  a_->memory->SetDelay(absl::Milliseconds(5));
  const std::string text = Pattern(kMebibyte - 1);
  b_->memory->Put(0, text);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, text.size(), *b_, 0).ok());
  }
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(0, 0, 0));
  EXPECT_EQ(a_->memory->Text(0, text.size()), text);
  EXPECT_LE(a_->memory->most_waiting, 3 * verbs::kChunk);
  EXPECT_GE(a_->memory->most_waiting, 2 * verbs::kChunk)
      << "one is always ready";
}

TEST_F(QueuePairTest, ALongReadIsDoneAsSeveralOfWhichSomeGetLost) {
  Connect(QpType::kRc);
  Lose(0.2);
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kTransmit, {.loss = 0.01});
  const std::string text = Pattern(kMebibyte);
  b_->memory->Put(0, text);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, text.size(), *b_, 0).ok());
    ASSERT_TRUE(a_->Add(0, *b_, 0, 0).ok());
  }
  Settle(absl::Minutes(5));
  EXPECT_THAT(a_->PollStatuses(), AllOf(SizeIs(6), Each(0u)));
  EXPECT_EQ(a_->memory->Text(0, text.size()), text);
}

// Of the second it has begun nothing, not even to read the client's memory.
TEST_F(QueuePairTest, ADrainEndsTheMessageThatBeganAndNoOther) {
  Connect(QpType::kRc);
  // Too long to be in flight as a whole.
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 1 << 20, *b_, 0).ok());
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10, *b_, 0).ok());
  a_->Drain();
  EXPECT_THAT(a_->events, IsEmpty());
  EXPECT_EQ(a_->qp->Query().sq_draining, 1);
  EXPECT_TRUE(absl::IsInvalidArgument(a_->TryModify({}, QpState::kReadyToSend)))
      << "it drains";
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events,
              ElementsAre(verbs::AsyncEventType::kSendQueueDrained));
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);

  a_->Modify({}, QpState::kReadyToSend);
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events, SizeIs(1));
}

TEST_F(QueuePairTest, WhoDidNotAskIsNotToldOfTheEndOfADrain) {
  Connect(QpType::kUc);
  ASSERT_TRUE(a_->Send(0, 300000).ok());
  a_->Modify({}, QpState::kSendQueueDrain);
  EXPECT_EQ(a_->qp->Query().sq_draining, 1);
  Settle();
  EXPECT_EQ(a_->qp->Query().sq_draining, 0);
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_THAT(a_->events, IsEmpty());
}

// As an adapter outside of the fabric sends it.
TEST_F(QueuePairTest, APacketThatNamesNoQueuePairIsFromThePeerIfItsLidIs) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 64).ok());
  Transport message;
  message.first = message.last = true;
  message.psn = 0xfffffe;
  Packet packet;
  packet.dlid = wire::Lid{2};
  packet.destination_qpn = b_->qp->number();
  packet.transport = std::make_shared<Transport>(message);
  const Subnet& subnet = std::as_const(lab_.fabric).subnet();
  const PortId from = subnet.port_id(subnet.node(lab_.Host(1)), 1);
  packet.slid = wire::Lid{11};  // the switch's
  lab_.fabric.SendFrom(from, packet);
  Settle();
  EXPECT_THAT(b_->Poll(), IsEmpty());
  packet.slid = wire::Lid{1};
  lab_.fabric.SendFrom(from, packet);
  Settle();
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
}

// VerbsEnd has room for 100 of either kind.
TEST_F(QueuePairTest, PromisesWhatIsFreeInItsQueues) {
  a_ = End(lab_.Host(1), QpType::kRc);
  EXPECT_EQ(a_->qp->promise()->sends, 0u) << "RESET";
  EXPECT_EQ(a_->qp->promise()->receives, 0u) << "RESET";
  Connect(QpType::kRc);
  EXPECT_EQ(a_->qp->promise()->sends, 100u);
  EXPECT_EQ(a_->qp->promise()->receives, 100u);
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(a_->Send(0, 10).ok());
    ASSERT_TRUE(b_->Receive(0, 10).ok());
  }
  EXPECT_EQ(a_->qp->promise()->sends, 97u);
  EXPECT_EQ(b_->qp->promise()->receives, 97u);
  Settle();
  EXPECT_EQ(b_->qp->promise()->receives, 100u);
  EXPECT_EQ(a_->qp->promise()->sends, 97u) << "nobody has polled";
  a_->Poll();
  EXPECT_EQ(a_->qp->promise()->sends, 100u);
}

TEST_F(QueuePairTest, KeepsItsPromiseInTheErrorState) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Send(0, 10).ok());
  a_->Modify({}, QpState::kError);
  EXPECT_EQ(a_->qp->promise()->sends, 99u);
  EXPECT_EQ(a_->qp->promise()->receives, 100u);
  ASSERT_TRUE(a_->Send(0, 10).ok()) << "which is flushed";
}

TEST_F(QueuePairTest, PromisesNoReceivesBesideASharedQueue) {
  VerbsEnd::Options options;
  options.shared = true;
  a_ = std::make_unique<VerbsEnd>(lab_.timers,
                                  lab_.fabric.provider(lab_.Host(1)), options);
  b_ = End(lab_.Host(2), QpType::kRc);
  VerbsEnd::Join(*a_, *b_);
  EXPECT_EQ(a_->qp->promise()->receives, 0u);
  int asked = 0;
  a_->on_no_receive = [&asked] { ++asked; };
  ASSERT_TRUE(b_->Send(0, 10).ok());
  Settle();
  EXPECT_EQ(asked, 0) << "there is nothing on its way to it";
}

TEST_F(QueuePairTest, MakesRoomBeyondItsCapacity) {
  Connect(QpType::kRc);
  for (int i = 0; i < 100; ++i) {
    ASSERT_TRUE(a_->Send(0, 10).ok());
    ASSERT_TRUE(a_->Receive(0, 10).ok());
  }
  EXPECT_TRUE(absl::IsResourceExhausted(a_->Send(0, 10)));
  EXPECT_TRUE(absl::IsResourceExhausted(a_->Receive(0, 10)));
  a_->qp->MakeRoom(1, 2);
  EXPECT_TRUE(a_->Send(0, 10).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(a_->Send(0, 10)));
  EXPECT_TRUE(a_->Receive(0, 10).ok());
  EXPECT_TRUE(a_->Receive(0, 10).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(a_->Receive(0, 10)));
  EXPECT_EQ(a_->qp->promise()->sends, 0u);
  a_->qp->MakeRoom(1000, 0);
  for (int i = 101; i < 200; ++i) ASSERT_TRUE(a_->Send(0, 10).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(a_->Send(0, 10))) << "twice as many";
}

TEST_F(QueuePairTest, HasItsCapacityAgainAfterMoreWasPosted) {
  Connect(QpType::kRc);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a_->Send(0, 10).ok());
  a_->qp->MakeRoom(50, 0);
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(a_->Send(0, 10).ok());
    ASSERT_TRUE(b_->Receive(0, 10).ok());
  }
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(b_->Receive(0, 10).ok());
  b_->qp->MakeRoom(0, 50);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(b_->Receive(0, 10).ok());
  Settle();
  EXPECT_EQ(b_->qp->promise()->receives, 100u);
  a_->Poll();
  EXPECT_EQ(a_->qp->promise()->sends, 100u);
  for (int i = 0; i < 100; ++i) ASSERT_TRUE(a_->Send(0, 10).ok());
  EXPECT_TRUE(absl::IsResourceExhausted(a_->Send(0, 10)));
}

TEST_F(QueuePairTest, KeepsItsPromiseWhileItsSendQueueDrains) {
  Connect(QpType::kUc);
  a_->Modify({}, QpState::kSendQueueDrain);
  EXPECT_EQ(a_->qp->promise()->sends, 100u);
  EXPECT_TRUE(a_->Send(0, 10).ok());
}

TEST_F(QueuePairTest, MakesNoRoomThatItHas) {
  Connect(QpType::kRc);
  a_->qp->MakeRoom(1, 1);
  EXPECT_EQ(a_->qp->promise()->sends, 100u);
  EXPECT_EQ(a_->qp->promise()->receives, 100u);
}

// A client that has not waited for its post is told of nothing: the message may
// come before.
TEST_F(QueuePairTest, AsksForReceivesThatAreOnTheirWay) {
  Connect(QpType::kRc);
  b_->on_no_receive = [this] { EXPECT_TRUE(b_->Receive(0, 10).ok()); };
  const auto& sent = lab_.PortOf(lab_.Host(1), 1).traffic.xmit_packets;
  const uint64_t before = sent;
  a_->memory->Put(0, "on its way");
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_EQ(b_->memory->Text(0, 10), "on its way");
  EXPECT_EQ(sent - before, 1u) << "it was not sent again";
}

}  // namespace
}  // namespace ibemu::fabric
