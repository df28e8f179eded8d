#include "fabric/soft_hca/adapter_faults.h"

#include <string>

#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fabric/verbs_pair.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;
using Direction = QueuePairDirection;
using verbs::AsyncEventType, verbs::QpState, verbs::QpType;

namespace wc_status = verbs::wc_status;

// Two hosts whose adapters have faults.
class AdapterFaultsTest : public VerbsPair {
 protected:
  QueuePairFaults& packets() { return lab_.fabric.adapter_faults().packets; }
  WorkRequestFaults& requests() {
    return lab_.fabric.adapter_faults().requests;
  }

  // A fault of what the queue pair of a host sends or receives.
  QueuePairFaultId AddTo(int host, Direction direction, const char* opcode,
                         LinkFaults faults) {
    faults.concerns.opcode = *ParseOpcodeFilter(opcode);
    const VerbsEnd& end = host == 1 ? *a_ : *b_;
    return packets().Add(FaultPlace::OfNode(lab_.Host(host)), direction,
                         end.qp->number(), faults, {});
  }
  static LinkFaults LoseNth(uint64_t nth) {
    return {.loss = 1, .first = nth, .last = nth};
  }
  // A sends 1,000 bytes to B.
  void Send(uint64_t id = 7) {
    ASSERT_TRUE(b_->Receive(4096, 1000, id).ok());
    ASSERT_TRUE(a_->Send(0, 1000, id).ok());
  }
  Hca& HcaOf(int host) { return *lab_.fabric.FindHca(lab_.Host(host)); }
  QueuePair& QpOf(int host) {
    return *HcaOf(host).FindQueuePair((host == 1 ? *a_ : *b_).qp->number());
  }
};

TEST_F(AdapterFaultsTest, ALostAcknowledgementIsSentAgainAndDataArrivesOnce) {
  Connect(QpType::kRc);
  const auto fault = AddTo(2, Direction::kSent, "rc-acknowledge", LoseNth(1));
  Send();
  Settle(absl::Milliseconds(1));
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
  EXPECT_THAT(a_->PollEnds(), IsEmpty());
  Settle();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
  EXPECT_THAT(b_->PollEnds(), IsEmpty());
  EXPECT_EQ(packets().CountsOf(fault), (FaultCounts{.packets = 2, .lost = 1}));
  EXPECT_EQ(HcaOf(2).CountersOf(1).duplicate_request, 1u);
  EXPECT_EQ(HcaOf(1).CountersOf(1).local_ack_timeout_err, 1u);
}

TEST_F(AdapterFaultsTest, AReadResponseThatNeverComesEndsTheRequest) {
  Connect(QpType::kRc);
  AddTo(1, Direction::kReceived, "read-response", {.loss = 1});
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 100, *b_, 0).ok());
  Settle();
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7, wc_status::kRetriesExceeded)));
}

TEST_F(AdapterFaultsTest, ALateReadResponseArrives) {
  Connect(QpType::kRc);
  const auto fault = AddTo(1, Direction::kReceived, "read-response",
                           {.delay = absl::Milliseconds(3)});
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 100, *b_, 0).ok());
  Settle(absl::Milliseconds(2));
  EXPECT_THAT(a_->PollEnds(), IsEmpty());
  Settle(absl::Milliseconds(2));
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
  EXPECT_EQ(packets().CountsOf(fault).delayed, 1u);
}

TEST_F(AdapterFaultsTest, OnlyTheLastPacketOfATrainIsLost) {
  Connect(QpType::kRc);
  const auto fault =
      AddTo(1, Direction::kSent, "rc-rdma-write-last", LoseNth(1));
  b_->memory->Put(0, std::string(10000, ' '));
  a_->memory->Put(0, Pattern(10000));
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10000, *b_, 0).ok());
  Settle();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
  EXPECT_EQ(b_->memory->Text(0, 10000), Pattern(10000));
  EXPECT_EQ(packets().CountsOf(fault).lost, 1u);
}

TEST_F(AdapterFaultsTest, AnotherQueuePairIsNotConcerned) {
  Connect(QpType::kRc);
  packets().Add(FaultPlace::OfNode(lab_.Host(1)), Direction::kSent,
                a_->qp->number() + 1, {.loss = 1}, {});
  Send();
  Settle();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
}

TEST_F(AdapterFaultsTest, ADuplicatedDatagramArrivesTwice) {
  Connect(QpType::kUd);
  AddTo(2, Direction::kReceived, "ud-send-only", {.duplicate = 1});
  ASSERT_TRUE(b_->Receive(0, 200, 1).ok());
  ASSERT_TRUE(b_->Receive(0, 200, 2).ok());
  verbs::SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, 100);
  const auto address =
      *a_->provider.CreateAh(*a_->pd, VerbsEnd::Towards(*b_).ah_attr);
  request.address = address.get();
  request.work.wr.ud.remote_qpn = b_->qp->number();
  request.work.wr.ud.remote_qkey = VerbsEnd::kQKey;
  ASSERT_TRUE(a_->Post(request).ok());
  Settle();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1, wc_status::kSuccess),
                                          Pair(2, wc_status::kSuccess)));
}

TEST_F(AdapterFaultsTest, ACorruptedPacketIsCountedWhereItArrives) {
  Connect(QpType::kRc);
  AddTo(1, Direction::kSent, "rc-send-only",
        {.corrupt = 1, .first = 1, .last = 1});
  AddTo(1, Direction::kReceived, "ack", {.corrupt = 1, .first = 1, .last = 1});
  Send();
  Settle();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
  EXPECT_EQ(lab_.PortOf(lab_.Switch(1), 1).Events().rcv_local_physical_errors,
            1u);
  EXPECT_EQ(lab_.PortOf(lab_.Host(1), 1).Events().rcv_local_physical_errors,
            1u);
}

TEST_F(AdapterFaultsTest, APacketThatIsLateForAQueuePairThatEndedIsDropped) {
  Connect(QpType::kRc);
  AddTo(2, Direction::kReceived, "send", {.delay = absl::Milliseconds(1)});
  Send();
  Settle(absl::Microseconds(100));
  b_->qp.reset();
  Settle();
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7, wc_status::kRetriesExceeded)));
}

TEST_F(AdapterFaultsTest, TheSameSeedLosesTheSamePackets) {
  const auto losses = [] {
    testing::Lab lab(testing::Chain(1), testing::Lab::kStatically, 5);
    VerbsEnd a(lab.timers, lab.Provider(1), {}),
        b(lab.timers, lab.Provider(2), {});
    VerbsEnd::Join(a, b);
    auto& packets = lab.fabric.adapter_faults().packets;
    const auto fault =
        packets.Add(FaultPlace::OfNode(lab.Host(1)), Direction::kSent,
                    std::nullopt, {.loss = 0.3}, {});
    std::string fates;
    for (int i = 0; i < 50; ++i) {
      const uint64_t before = packets.CountsOf(fault).lost;
      EXPECT_TRUE(b.Receive(0, 10).ok() && a.Send(0, 10).ok());
      lab.timers.RunFor(absl::Seconds(1));
      a.Poll();
      b.Poll();
      fates += std::to_string(packets.CountsOf(fault).lost - before);
    }
    return fates;
  };
  const std::string once = losses();
  EXPECT_NE(once, std::string(50, '0'));
  EXPECT_EQ(losses(), once);
}

TEST_F(AdapterFaultsTest, AReceiverThatIsNeverReadyEndsTheRequest) {
  Connect(QpType::kRc);
  const auto fault = requests().Add(FaultPlace::OfNode(lab_.Host(2)),
                                    b_->qp->number(), {.not_ready = true});
  Send();
  Settle();
  EXPECT_THAT(a_->PollEnds(),
              ElementsAre(Pair(7, wc_status::kRnrRetriesExceeded)));
  EXPECT_EQ(requests().ActsOf(fault), (FaultActs{.seen = 4, .acted = 4}));
  EXPECT_EQ(HcaOf(1).CountersOf(1).rnr_nak_retry_err, 4u);
}

TEST_F(AdapterFaultsTest, AReceiverIsReadyAgainAfterAWhile) {
  Connect(QpType::kRc);
  requests().Add(FaultPlace::OfNode(lab_.Host(2)), std::nullopt,
                 {.not_ready = true, .span = absl::Microseconds(700)});
  Send();
  Settle();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(7, wc_status::kSuccess)));
  EXPECT_EQ(HcaOf(2).CountersOf(1).out_of_buffer, 2u);
}

TEST_F(AdapterFaultsTest, TheThirdCompletionFailsAndTheQueuePairWithIt) {
  Connect(QpType::kRc);
  requests().Add(
      FaultPlace::OfNode(lab_.Host(1)), a_->qp->number(),
      {.completion = {.status = wc_status::kRemoteAccess, .vendor_err = 0x8a},
       .of_receives = false,
       .window = {.first = 3, .last = 3}});
  for (uint64_t id = 1; id <= 4; ++id) Send(id);
  Settle();
  const auto completions = a_->Poll();
  ASSERT_THAT(completions, SizeIs(4));
  EXPECT_EQ(completions[1].status, wc_status::kSuccess);
  EXPECT_EQ(completions[2].status, wc_status::kRemoteAccess);
  EXPECT_EQ(completions[2].vendor_err, 0x8au);
  EXPECT_EQ(completions[3].status, wc_status::kFlushed);
  EXPECT_EQ(a_->State(), QpState::kError);
  EXPECT_EQ(HcaOf(1).CountersOf(1).req_cqe_error, 1u);
  EXPECT_EQ(HcaOf(1).CountersOf(1).req_cqe_flush_error, 1u);
}

TEST_F(AdapterFaultsTest, AReceiveFailsAndItsQueuePairWithIt) {
  Connect(QpType::kRc);
  requests().Add(FaultPlace::OfNode(lab_.Host(2)), b_->qp->number(),
                 {.completion = {.status = wc_status::kLocalProtection},
                  .of_sends = false});
  Send();
  Settle();
  EXPECT_THAT(b_->PollEnds(),
              ElementsAre(Pair(7, wc_status::kLocalProtection)));
  EXPECT_EQ(b_->State(), QpState::kError);
}

TEST_F(AdapterFaultsTest, ACompletionNeverComesAndTheNextDoes) {
  Connect(QpType::kRc);
  requests().Add(
      FaultPlace::OfNode(lab_.Host(1)), std::nullopt,
      {.completion = {.lost = true}, .window = {.first = 1, .last = 1}});
  Send(1);
  Send(2);
  Settle();
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(2, wc_status::kSuccess)));
  EXPECT_THAT(b_->PollEnds(), SizeIs(2));
}

TEST_F(AdapterFaultsTest, LateCompletionsKeepTheirOrder) {
  Connect(QpType::kRc);
  for (const int host : {1, 2}) {
    requests().Add(FaultPlace::OfNode(lab_.Host(host)), std::nullopt,
                   {.completion = {.delay = absl::Milliseconds(50)},
                    .window = {.first = 1, .last = 1}});
  }
  Send(1);
  Send(2);
  Settle(absl::Milliseconds(49));
  EXPECT_THAT(a_->PollEnds(), IsEmpty());
  EXPECT_THAT(b_->PollEnds(), IsEmpty());
  Settle(absl::Milliseconds(2));
  const auto both =
      ElementsAre(Pair(1, wc_status::kSuccess), Pair(2, wc_status::kSuccess));
  EXPECT_THAT(a_->PollEnds(), both);
  EXPECT_THAT(b_->PollEnds(), both);
}

TEST_F(AdapterFaultsTest, AnErrorEndsTheWaitOfLateCompletions) {
  Connect(QpType::kRc);
  requests().Add(FaultPlace::OfNode(lab_.Host(1)), std::nullopt,
                 {.completion = {.delay = absl::Seconds(50)}});
  Send(1);
  Settle(absl::Milliseconds(1));
  ASSERT_TRUE(a_->Send(0, 1000, 2).ok());
  QpOf(1).FailBy("fault-1");
  EXPECT_THAT(a_->PollEnds(), ElementsAre(Pair(1, wc_status::kSuccess),
                                          Pair(2, wc_status::kFlushed)));
  Settle(absl::Seconds(60));
  EXPECT_THAT(a_->PollEnds(), IsEmpty());
}

TEST_F(AdapterFaultsTest, AQueuePairThatFailsFlushesAndTells) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100, 1).ok());
  QpOf(2).FailBy("fault-1");
  EXPECT_EQ(b_->State(), QpState::kError);
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1, wc_status::kFlushed)));
  EXPECT_THAT(b_->events, ElementsAre(AsyncEventType::kQpFatal));
}

TEST_F(AdapterFaultsTest, AQueuePairThatFailsToSendStillReceives) {
  Connect(QpType::kUc);
  EXPECT_TRUE(QpOf(2).CanFailToSend());
  QpOf(2).FailToSendBy("fault-1");
  EXPECT_EQ(b_->State(), QpState::kSendQueueError);
  ASSERT_TRUE(b_->Send(0, 10, 1).ok());
  Send(2);
  Settle();
  EXPECT_THAT(b_->PollEnds(), ElementsAre(Pair(1, wc_status::kFlushed),
                                          Pair(2, wc_status::kSuccess)));
}

TEST_F(AdapterFaultsTest, OnlyOneCallFails) {
  auto& resources = lab_.fabric.adapter_faults().resources;
  const auto fault =
      resources.Add(FaultPlace::OfNode(lab_.Host(1)),
                    {.call = ResourceCall::kAllocPd,
                     .error = absl::StatusCode::kDeadlineExceeded,
                     .window = {.first = 2, .last = 2}});
  verbs::Provider& provider = lab_.Provider(1);
  EXPECT_TRUE(provider.CreatePd(1).ok());
  EXPECT_EQ(provider.CreatePd(1).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  EXPECT_TRUE(provider.CreatePd(1).ok());
  EXPECT_TRUE(lab_.Provider(2).CreatePd(1).ok());
  EXPECT_EQ(resources.ActsOf(fault), (FaultActs{.seen = 3, .acted = 1}));
  resources.Remove(fault);
}

TEST_F(AdapterFaultsTest, CountersStayWhenAQueuePairEnds) {
  Connect(QpType::kRc);
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 100, *b_, 0).ok());
  ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 100, *b_, 0).ok());
  Settle();
  EXPECT_EQ(HcaOf(2).CountersOf(1).rx_read_requests, 1u);
  b_->qp.reset();
  EXPECT_EQ(HcaOf(2).CountersOf(1).rx_read_requests, 1u);
  EXPECT_EQ(HcaOf(2).CountersOf(1).rx_write_requests, 1u);
}

TEST_F(AdapterFaultsTest, AnAdapterTellsOfItsQueuePairs) {
  Connect(QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  lab_.SetLink(lab_.Host(1), 1, false);
  ASSERT_TRUE(a_->Send(0, 100).ok());
  lab_.timers.RunPending();
  const auto told = HcaOf(1).QueuePairs();
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].number, a_->qp->number());
  EXPECT_EQ(told[0].state, QpState::kReadyToSend);
  EXPECT_EQ(told[0].peer_qpn, b_->qp->number());
  EXPECT_EQ(told[0].peer_lid, 2);
  EXPECT_EQ(told[0].sends, 1u);
  EXPECT_EQ(told[0].outstanding, 1u);
  EXPECT_EQ(told[0].process, a_->memory->process());
  EXPECT_EQ(HcaOf(2).QueuePairs()[0].receives, 1u);
}

}  // namespace
}  // namespace ibemu::fabric
