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

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using verbs::QpState, verbs::QpType;

class QueuePairTest : public VerbsPair {};

TEST_F(QueuePairTest, SendsAMessageOfManyPackets) {
  Connect(QpType::kRc);
  const std::string text = Pattern(10000);
  a_->memory->Put(0, text);
  ASSERT_TRUE(b_->Receive(50000, 20000).ok());
  ASSERT_TRUE(a_->Send(0, text.size()).ok());
  EXPECT_THAT(a_->Poll(), IsEmpty()) << "nothing happens at once";
  Settle();
  const auto sent = a_->Poll();
  ASSERT_THAT(sent, SizeIs(1));
  EXPECT_EQ(sent[0].status, verbs::wc_status::kSuccess);
  EXPECT_EQ(sent[0].wr_id, 7u);
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].byte_len, text.size());
  EXPECT_EQ(received[0].wr_id, 100u);
  EXPECT_EQ(b_->memory->Text(50000, text.size()), text);
}

TEST_F(QueuePairTest, WritesAndReadsWithoutThePeersHelp) {
  Connect(QpType::kRc);
  const std::string text = Pattern(600000);  // more than one chunk
  a_->memory->Put(0, text);
  ASSERT_TRUE(
      a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, text.size(), *b_, 1000).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->memory->Text(1000, text.size()), text);
  EXPECT_THAT(b_->Poll(), IsEmpty());

  b_->memory->Put(0, "from b");
  ASSERT_TRUE(
      b_->Rdma(IB_UVERBS_WR_RDMA_READ, 2000, text.size() - 1, *a_, 1).ok());
  Settle();
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
  EXPECT_EQ(b_->memory->Text(2000, text.size() - 1), text.substr(1));
}

TEST_F(QueuePairTest, DeliversImmediateDataWithAWrite) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 0).ok());
  verbs::SendRequest request =
      a_->Request(IB_UVERBS_WR_RDMA_WRITE_WITH_IMM, 0, 3000);
  request.work.wr.rdma.remote_addr = FakeMemory::kStart;
  request.work.wr.rdma.rkey = b_->mr->rkey();
  request.work.ex.imm_data = 0xdeadbeef;
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1));
  EXPECT_EQ(received[0].opcode, verbs::wc_opcode::kReceiveWriteWithImmediate);
  EXPECT_EQ(received[0].ex.imm_data, 0xdeadbeef);
  EXPECT_EQ(received[0].wc_flags, verbs::wc_flag::kWithImmediate);
  EXPECT_EQ(received[0].byte_len, 3000u);
}

TEST_F(QueuePairTest, KeepsTheOrderOfMixedOperationsUnderLoss) {
  Connect(QpType::kRc);
  Lose(0.2);
  const std::string text = Pattern(5000);
  a_->memory->Put(0, text);
  for (int i = 0; i < 20; ++i) ASSERT_TRUE(b_->Receive(100000, 6000).ok());
  for (int i = 0; i < 20; ++i) {
    ASSERT_TRUE(a_->Send(0, 5000).ok());
    ASSERT_TRUE(
        a_->Rdma(IB_UVERBS_WR_RDMA_READ, 200000, 3000, *b_, 100000).ok());
  }
  Settle(absl::Minutes(1));
  EXPECT_THAT(a_->PollStatuses(),
              ::testing::AllOf(SizeIs(40), ::testing::Each(0u)));
  EXPECT_THAT(b_->PollStatuses(),
              ::testing::AllOf(SizeIs(20), ::testing::Each(0u)));
  EXPECT_EQ(b_->memory->Text(100000, 5000), text);
  EXPECT_EQ(a_->memory->Text(200000, 3000), text.substr(0, 3000));
}

TEST_F(QueuePairTest, GivesUpWhenNobodyAnswers) {
  Connect(QpType::kRc);
  ASSERT_TRUE(row_.fabric.SetLink(row_.host_2, 1, false).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRetriesExceeded,
                          verbs::wc_status::kFlushed));
  EXPECT_EQ(a_->State(), QpState::kError);
}

TEST_F(QueuePairTest, WaitsForAReceiverThatIsNotReady) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle(absl::Microseconds(500));
  EXPECT_THAT(a_->Poll(), IsEmpty());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));

  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRnrRetriesExceeded));
}

// The second message arrives out of sequence, for want of the first.
TEST_F(QueuePairTest, TwoMessagesWaitForOneReceiverWithoutHaste) {
  Connect(QpType::kRc);
  const auto& sent = row_.PortOf(row_.host_1, 1).traffic.xmit_packets;
  const uint64_t before = sent;
  ASSERT_TRUE(a_->Send(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  row_.timers.RunPending();
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
  const auto& sent = row_.PortOf(row_.host_1, 1).traffic.xmit_packets;
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

TEST_F(QueuePairTest, RefusesWhatKeysAndRightsDoNotAllow) {
  Connect(QpType::kRc, verbs::access::kLocalWrite);
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10, *b_, 0).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kRemoteAccess));
  EXPECT_EQ(a_->State(), QpState::kError);
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_THAT(b_->events,
              ::testing::Contains(verbs::EventType::kQpAccessError));
}

TEST_F(QueuePairTest, RefusesToReachBeyondARegion) {
  Connect(QpType::kRc);
  ASSERT_TRUE(
      a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *b_, VerbsPeer::kSize - 9).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kRemoteAccess));
}

TEST_F(QueuePairTest, FailsASendWhoseOwnMemoryIsNotRegistered) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  ASSERT_TRUE(a_->Send(VerbsPeer::kSize, 1).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kSuccess,
                          verbs::wc_status::kLocalProtection));
}

TEST_F(QueuePairTest, TellsBothSidesOfAMessageThatIsTooLong) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 99).ok());
  ASSERT_TRUE(a_->Send(0, 100).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRemoteInvalidRequest));
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kLocalLength));
}

TEST_F(QueuePairTest, StopsAtMemoryThatWentAwayBeneathAKey) {
  Connect(QpType::kRc);
  auto hole = *b_->provider.CreateMr(
      {.pd = b_->pd.get(),
       .memory = b_->memory,
       .start = FakeMemory::kStart + VerbsPeer::kSize,  // nothing there
       .length = 4096,
       .address = 0,
       .access = VerbsPeer::kAll});
  verbs::SendRequest request = a_->Request(IB_UVERBS_WR_RDMA_WRITE, 0, 100);
  request.work.wr.rdma.rkey = hole->rkey();
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kRemoteOperation));
}

TEST_F(QueuePairTest, FlushesWhatIsLeftInAnError) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  verbs::QpAttributes error{};
  error.qp_attr_mask = verbs::qp_attribute::kState;
  error.qp_state = static_cast<uint32_t>(QpState::kError);
  ASSERT_TRUE(a_->qp->Modify(error).ok());
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kFlushed));
  ASSERT_TRUE(a_->Send(0, 10).ok());
  ASSERT_TRUE(a_->Receive(0, 10).ok());
  EXPECT_THAT(a_->PollStatuses(), ElementsAre(verbs::wc_status::kFlushed,
                                              verbs::wc_status::kFlushed));
}

TEST_F(QueuePairTest, TakesNothingBeforeItsTime) {
  Connect(QpType::kRc);
  VerbsPeer fresh(row_, row_.host_1, QpType::kRc);
  EXPECT_TRUE(absl::IsInvalidArgument(fresh.Send(0, 10)));
  EXPECT_TRUE(absl::IsInvalidArgument(fresh.Receive(0, 10)));
}

TEST_F(QueuePairTest, LosesWhatAnUnreliableConnectionLoses) {
  Connect(QpType::kUc);
  Lose(0.3);
  for (int i = 0; i < 50; ++i) ASSERT_TRUE(b_->Receive(0, 3000).ok());
  for (int i = 0; i < 50; ++i) {
    ASSERT_TRUE(a_->Send(0, 3000).ok());
    Settle(absl::Milliseconds(1));
  }
  EXPECT_THAT(a_->PollStatuses(),
              ::testing::AllOf(SizeIs(50), ::testing::Each(0u)));
  const auto received = b_->PollStatuses();
  EXPECT_THAT(received, ::testing::Each(0u));
  EXPECT_GT(received.size(), 0u);
  EXPECT_LT(received.size(), 50u);
}

TEST_F(QueuePairTest, LosesWhatMemoryIsTooSlowForOnAnUnreliableConnection) {
  Connect(QpType::kUc);
  b_->memory->SetDelay(absl::Milliseconds(1));
  constexpr int kWrites = 30;
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  for (int i = 0; i < kWrites; ++i) {
    ASSERT_TRUE(
        a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, VerbsPeer::kSize, *b_, 0).ok());
  }
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  EXPECT_THAT(a_->PollStatuses(),
              ::testing::AllOf(SizeIs(kWrites + 1), ::testing::Each(0u)));
  EXPECT_LT(b_->memory->most_waiting, kWrites * VerbsPeer::kSize);
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
  Connect(QpType::kRc, VerbsPeer::kAll, kMtu256);
  constexpr size_t kLongest = size_t{1} << 31;
  const auto wide = *a_->provider.CreateMr({.pd = a_->pd.get(),
                                            .memory = a_->memory,
                                            .start = FakeMemory::kStart,
                                            .length = kLongest,
                                            .address = FakeMemory::kStart,
                                            .access = VerbsPeer::kAll});
  const auto target = *b_->provider.CreateMr({.pd = b_->pd.get(),
                                              .memory = b_->memory,
                                              .start = FakeMemory::kStart,
                                              .length = kLongest,
                                              .address = FakeMemory::kStart,
                                              .access = VerbsPeer::kAll});
  b_->memory->SetDelay(absl::Milliseconds(1));
  const auto& sent = row_.PortOf(row_.host_1, 1).traffic.xmit_packets;
  const uint64_t before = sent;
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  verbs::SendRequest request = a_->Request(IB_UVERBS_WR_RDMA_READ, 0, kLongest);
  request.sges[0].lkey = wide->lkey();
  request.work.wr.rdma.remote_addr = FakeMemory::kStart;
  request.work.wr.rdma.rkey = target->rkey();
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  row_.timers.RunFor(absl::Microseconds(500));
  EXPECT_EQ(sent - before, 1u) << "the read waits for its turn";
  Settle();
  EXPECT_GT(sent - before, VerbsPeer::kSize / verbs::kChunk) << "it began";
  EXPECT_THAT(a_->PollStatuses(),
              ElementsAre(verbs::wc_status::kSuccess,
                          verbs::wc_status::kRemoteOperation))
      << "there are not so many bytes";
}

TEST_F(QueuePairTest, PutsADatagramBehindRoomForItsRoute) {
  Connect(QpType::kUd);
  a_->memory->Put(0, "datagram");
  ASSERT_TRUE(b_->Receive(0, 2048).ok());
  const auto ah = *a_->provider.CreateAh(*a_->pd, [] {
    verbs::AddressAttributes to{};
    to.dlid = 2;
    to.port_num = 1;
    return to;
  }());
  verbs::SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, 8);
  request.address = ah.get();
  request.work.wr.ud.remote_qpn = b_->qp->number();
  request.work.wr.ud.remote_qkey = 0x1234;
  verbs::SendRequest stranger = request;
  stranger.work.wr.ud.remote_qkey = 0x4321;
  ASSERT_TRUE(a_->Post(std::move(stranger)).ok());
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  const auto received = b_->Poll();
  ASSERT_THAT(received, SizeIs(1)) << "the other had a wrong Q_Key";
  EXPECT_EQ(received[0].byte_len, 48u);
  EXPECT_EQ(received[0].src_qp, a_->qp->number());
  EXPECT_EQ(received[0].slid, 1);
  EXPECT_EQ(b_->memory->Text(40, 8), "datagram");
  EXPECT_EQ(row_.PortOf(row_.host_2, 1).info.q_key_violations, 1);
}

TEST_F(QueuePairTest, CountsWhatItSendsInThePortsItPasses) {
  Connect(QpType::kRc);
  const uint64_t before = row_.PortOf(row_.host_1, 1).traffic.xmit_packets;
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 4096, *b_, 0).ok());
  Settle();
  const NodePort& port = row_.PortOf(row_.host_1, 1);
  EXPECT_EQ(port.traffic.xmit_packets - before, 4u);
  EXPECT_GE(port.traffic.xmit_data, 4096u / 4);
}

TEST_F(QueuePairTest, LeavesNothingBehindWhenItEndsInTheMiddle) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 500000, *b_, 0).ok());
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 500000, *b_, 0).ok());
  row_.timers.RunPending();
  b_->qp.reset();
  ASSERT_TRUE(a_->Send(0, 10).ok());
  row_.timers.RunPending();
  a_->qp.reset();
  Settle();
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
  const Subnet& subnet = std::as_const(row_.fabric).subnet();
  const PortId from = subnet.port_id(subnet.node(row_.host_1), 1);
  packet.slid = wire::Lid{11};  // the switch's
  row_.fabric.SendFrom(from, packet);
  Settle();
  EXPECT_THAT(b_->Poll(), IsEmpty());
  packet.slid = wire::Lid{1};
  row_.fabric.SendFrom(from, packet);
  Settle();
  EXPECT_THAT(b_->PollStatuses(), ElementsAre(verbs::wc_status::kSuccess));
}

}  // namespace
}  // namespace ibemu::fabric
