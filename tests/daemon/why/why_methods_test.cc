#include "daemon/why/why_methods.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/soft_hca/adapter_faults.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/soft_hca/queue_pair.h"
#include "nlohmann/json.hpp"
#include "testing/verbs_end.h"
#include "tests/daemon/method_caller.h"
#include "tests/daemon/why/lab_diagnosis.h"
#include "tests/fabric/verbs_pair.h"

namespace ibemu::daemon {
namespace {

using fabric::Fabric;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using testing::VerbsEnd;

// Two hosts, host-1 and host-2, on a switch; queue pairs have number 2.
class WhyMethodsTest : public fabric::VerbsPair, protected MethodCaller {
 protected:
  std::string Why(const char* node = "host-1") {
    const json queue_pairs =
        Result("queue_pair.why", {{"node", node}})["queue_pairs"];
    EXPECT_FALSE(queue_pairs.empty());
    return queue_pairs.empty() || queue_pairs[0]["why"].is_null()
               ? ""
               : queue_pairs[0]["why"].get<std::string>();
  }
  // What happened to its queue pair, in words.
  std::vector<std::string> Incidents(const char* node) {
    const json answer = Result("queue_pair.why", {{"node", node}});
    std::vector<std::string> texts;
    for (const json& incident : answer["queue_pairs"][0]["incidents"]) {
      texts.push_back(incident["text"]);
    }
    return texts;
  }
  // What happened to its queue pair although no request failed; empty: nothing.
  std::string Trouble(const char* node) {
    const json trouble =
        Result("queue_pair.why", {{"node", node}})["queue_pairs"][0]["trouble"];
    return trouble.is_null() ? "" : trouble.get<std::string>();
  }
  // A connection in which the end at host-1 has other attributes.
  void ConnectWith(const std::function<void(verbs::QpAttributes&)>& change) {
    a_ = End(lab_.Host(1), verbs::QpType::kRc);
    b_ = End(lab_.Host(2), verbs::QpType::kRc);
    verbs::QpAttributes to = VerbsEnd::Towards(*b_);
    change(to);
    a_->Connect(to);
    b_->Connect(VerbsEnd::Towards(*a_));
  }
  // A datagram from a_ to b_.
  void SendDatagram(uint32_t q_key = VerbsEnd::kQKey) {
    verbs::AddressAttributes to{};
    to.dlid = 2;
    to.port_num = 1;
    const auto ah = *a_->provider.CreateAh(*a_->pd, to);
    verbs::SendRequest request = a_->Request(IB_UVERBS_WR_SEND, 0, 8);
    request.address = ah.get();
    request.work.wr.ud.remote_qpn = b_->qp->number();
    request.work.wr.ud.remote_qkey = q_key;
    ASSERT_TRUE(a_->Post(std::move(request)).ok());
    Settle();
  }
  void AddRequestFault(int host, const fabric::WorkRequestFault& fault) {
    lab_.fabric.adapter_faults().requests.Add(
        fabric::FaultPlace::OfNode(lab_.Host(host)), std::nullopt, fault);
  }
  fabric::QueuePair& QueuePairOf(int host) {
    return *lab_.fabric.FindHca(lab_.Host(host))->FindQueuePair(2);
  }
  void SendInVain() {
    ASSERT_TRUE(a_->Send(0, 10, 77).ok());
    Settle();
    ASSERT_THAT(a_->PollStatuses(), ::testing::SizeIs(1));
  }

  LabWhy why_{lab_, dispatcher};
};

TEST_F(WhyMethodsTest, NamesTheLinkThatWasDown) {
  Connect(verbs::QpType::kRc);
  Settle(absl::Milliseconds(12301));
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, false).ok());
  SendInVain();
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "RETRY_EXC_ERR: 16 tries of PSN 0xfffffe in 67ms, none answered: "
            "dropped at sw1/2: the link was down from 12.301s on (16 times)");
}

TEST_F(WhyMethodsTest, TellsWhyAnAlternatePathWasNotTaken) {
  using ::testing::EndsWith;
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->qp->Modify(VerbsEnd::AlternatePath(1, 2)).ok());
  lab_.SetLink(lab_.Host(2), 1, false);
  SendInVain();
  EXPECT_THAT(Why(), EndsWith("; its alternate path was not armed: REARM was "
                              "not asked for"));
}

TEST_F(WhyMethodsTest, TellsThatAnAlternatePathWasArmedAtOneEndOnly) {
  using ::testing::EndsWith;
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Rearm(VerbsEnd::AlternatePath(1, 2)).ok());
  lab_.SetLink(lab_.Host(2), 1, false);
  SendInVain();
  EXPECT_THAT(Why(), EndsWith("; its alternate path was not armed: no packet "
                              "came of a peer that is rearmed, too"));
}

TEST_F(WhyMethodsTest, TellsThatAnAlternatePathDidNotHelp) {
  using ::testing::EndsWith;
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Rearm(VerbsEnd::AlternatePath(1, 2)).ok());
  ASSERT_TRUE(b_->Rearm(VerbsEnd::AlternatePath(1, 1)).ok());
  ASSERT_TRUE(b_->Receive(0, 10).ok());
  ASSERT_TRUE(a_->Send(0, 10).ok());
  Settle();
  ASSERT_THAT(a_->PollStatuses(), ::testing::ElementsAre(0u));
  lab_.SetLink(lab_.Host(2), 1, false);
  SendInVain();
  EXPECT_THAT(Why(), EndsWith("; it had taken its alternate path, to LID 2 by "
                              "port 1, as no retries were left"));
}

TEST_F(WhyMethodsTest, AProcessIsAskedAboutByItsNumber) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, false).ok());
  SendInVain();
  const json told = Result("queue_pair.why", {{"pid", a_->memory->process()}});
  ASSERT_EQ(told["queue_pairs"].size(), 1u);
  EXPECT_EQ(told["queue_pairs"][0]["why"], Why());
  EXPECT_EQ(told["queue_pairs"][0]["pid"], a_->memory->process());
  EXPECT_EQ(Result("queue_pair.why", {{"pid", 999999}})["queue_pairs"],
            json::array());
  EXPECT_EQ(Error("queue_pair.why", {{"pid", 1}, {"node", "host-1"}}),
            "pid goes with neither node nor qpn: it is of all nodes");
}

TEST_F(WhyMethodsTest, TellsWhatFaultsDidToAProcessWithoutQueuePairs) {
  why_.acted = json::array({{{"name", "slow"}, {"acts", 2}}});
  EXPECT_EQ(Result("queue_pair.why", {{"pid", 999999}})["faults"], why_.acted);
}

TEST_F(WhyMethodsTest, TellsHowLongTheLinkWasDown) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, false).ok());
  SendInVain();
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, true).ok());
  Settle();
  EXPECT_THAT(Why(), HasSubstr("the link was down from 0 to 10s (16 times)"));
}

TEST_F(WhyMethodsTest, NamesTheFaultThatCutALinkAlsoAfterItHasCutItAgain) {
  Connect(verbs::QpType::kRc);
  const auto set_link = [this](bool up, uint32_t fault) {
    ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, up, fault).ok());
  };
  const uint32_t fault = lab_.fabric.NewFaultNumber();
  set_link(false, fault);
  SendInVain();
  set_link(true, 0);
  for (size_t i = 1; i < LinkOutages::kMax; ++i) {
    set_link(false, 0);
    Settle();
    set_link(true, 0);
  }
  const std::string dropped = "dropped at sw1/2: the link was ";
  EXPECT_THAT(Why(), HasSubstr(dropped + "down from 0 to 10s, cut by loss-1 "
                                         "(16 times)"));
  set_link(false, fault);
  EXPECT_THAT(Why(), HasSubstr(dropped + "not active (16 times)"))
      << "so many are not kept";
}

TEST_F(WhyMethodsTest, SaysThatALinkWasNotActiveSinceItWasDown) {
  Connect(verbs::QpType::kRc);
  for (const bool up : {false, true}) {
    ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, up).ok());
    Settle();
  }
  lab_.PortOf("sw1", 2).info.port_state = mad::PortState::kInit;
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("dropped at sw1/2: the link was not active "
                               "since it was down from 0 to 10s (16 times)"));
}

TEST_F(WhyMethodsTest, NamesTheNodeThatWasSwitchedOff) {
  Connect(verbs::QpType::kRc);
  lab_.fabric.SetNode(lab_.Host(2), false);
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("dropped at sw1/2: the link was down from 0 on, "
                               "as host-2 was switched off (16 times)"));
}

TEST_F(WhyMethodsTest, NamesTheAdapterThatWasRemovedAtBothEnds) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(lab_.fabric.RemoveDevice(lab_.Host(2)).ok());
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("dropped at sw1/2: the link was down from 0 on, "
                               "as the adapter of host-2 was removed (16 "
                               "times)"));
  EXPECT_EQ(Trouble("host-2"),
            "host-2 queue pair 0x2 went from RTS to ERR, as the adapter has "
            "gone");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatLosesPackets) {
  Connect(verbs::QpType::kRc);
  Lose(1);
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("dropped at host-1/1: lost by loss-1"));
}

TEST_F(WhyMethodsTest, NamesTheFaultThatLosesTheAnswers) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kTransmit, {.loss = 1});
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("the answers of host-2 queue pair 0x2 were "
                               "dropped at host-2/1: lost by loss-1"));
}

TEST_F(WhyMethodsTest, WhatHappenedToThePeerCountsAlsoWhenItHasEndedSince) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kTransmit, {.loss = 1});
  SendInVain();
  b_.reset();
  EXPECT_THAT(Why(), HasSubstr("the answers of host-2 queue pair 0x2 were "
                               "dropped at host-2/1: lost by loss-1"));
}

TEST_F(WhyMethodsTest, SaysThatThePeerWasNotConnectedYet) {
  a_ = End(lab_.Host(1), verbs::QpType::kRc);
  b_ = End(lab_.Host(2), verbs::QpType::kRc);
  a_->Connect(VerbsEnd::Towards(*b_));
  SendInVain();
  EXPECT_THAT(Why(),
              HasSubstr("host-2 queue pair 0x2 did not take them: the "
                        "state is RESET: packets are taken from RTR on"));
}

TEST_F(WhyMethodsTest, SaysThatThePeerIsConnectedToAnother) {
  a_ = End(lab_.Host(1), verbs::QpType::kRc);
  b_ = End(lab_.Host(2), verbs::QpType::kRc);
  a_->Connect(VerbsEnd::Towards(*b_));
  b_->Connect(VerbsEnd::Towards(99, 1));
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("it comes from LID 1, queue pair 0x2: this is "
                               "connected to LID 1, queue pair 0x63"));
}

TEST_F(WhyMethodsTest, SaysThatThePeerWasDestroyedOrNeverExisted) {
  Connect(verbs::QpType::kRc);
  b_.reset();
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("host-2 queue pair 0x2 was destroyed"));

  const auto other = End(lab_.Host(1), verbs::QpType::kRc);
  other->Connect(VerbsEnd::Towards(0x77, 2));
  ASSERT_TRUE(other->Send(0, 10).ok());
  Settle();
  const json answer =
      Result("queue_pair.why", {{"node", "host-1"}, {"qpn", 3}});
  EXPECT_THAT(answer["queue_pairs"][0]["why"].get<std::string>(),
              HasSubstr("host-2 queue pair 0x77 does not exist"));
}

TEST_F(WhyMethodsTest, SaysThatNoPortHasTheLid) {
  a_ = End(lab_.Host(1), verbs::QpType::kRc);
  a_->Connect(VerbsEnd::Towards(2, 40));
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("dropped at sw1/1: no forwarding entry "
                               "leads to its LID"));
}

TEST_F(WhyMethodsTest, SaysThatThePortHasAnotherLid) {
  Connect(verbs::QpType::kRc);
  lab_.fabric.SetLid(lab_.fabric.FindPort(lab_.Host(2), 1).value(),
                     wire::Lid{77}, -1);
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("dropped at host-2/1: it was for another LID: "
                               "the port has 77 (16 times)"));
}

TEST_F(WhyMethodsTest, ThereIsASentenceForEachCauseOfADrop) {
  for (unsigned i = 0;
       i <= static_cast<unsigned>(fabric::DropCause::kDelayFull); ++i) {
    const auto cause = static_cast<fabric::DropCause>(i);
    const std::string text = why_.diagnosis.DropText(
        {.kind = fabric::Incident::Kind::kDropped,
         .drop = {{.port = fabric::PortId{0}, .cause = cause}}});
    EXPECT_THAT(text, MatchesRegex("dropped at .*/.*: .* .* .*"))
        << fabric::NameOf(cause);
  }
}

TEST_F(WhyMethodsTest, SaysThatThePeerHadNoReceiveRequest) {
  Connect(verbs::QpType::kRc);
  SendInVain();
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "RNR_RETRY_EXC_ERR: host-2 queue pair 0x2 had no receive request "
            "at 4 tries of PSN 0xfffffe in 1.92ms");
}

TEST_F(WhyMethodsTest, NamesTheKeyThatThePeerDoesNotKnow) {
  Connect(verbs::QpType::kRc);
  auto request = a_->RdmaRequest(IB_UVERBS_WR_RDMA_WRITE, 0, 10, *b_, 0);
  request.work.wr.rdma.rkey ^= 0x100000;
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  EXPECT_THAT(Why(), HasSubstr("(RDMA WRITE) ended with REM_ACCESS_ERR: host-2 "
                               "queue pair 0x2 refused it: no region has the "
                               "key 0x1"));
}

TEST_F(WhyMethodsTest, NamesTheBoundsThatWereLeft) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(
      a_->Rdma(IB_UVERBS_WR_RDMA_READ, 0, 10, *b_, VerbsEnd::kSize).ok());
  Settle();
  EXPECT_THAT(Why(), HasSubstr("10 bytes at 0x810000 are not within the "
                               "region's 8388608 at 0x10000"));
}

TEST_F(WhyMethodsTest, NamesTheRightThatIsMissing) {
  Connect(verbs::QpType::kRc);
  const auto shut =
      *b_->provider.CreateMr({.pd = b_->pd.get(),
                              .memory = b_->memory,
                              .start = testing::FakeMemory::kStart,
                              .length = 100,
                              .address = 0,
                              .access = 0});
  auto request = a_->RdmaRequest(IB_UVERBS_WR_RDMA_READ, 0, 10, *b_, 0);
  request.work.wr.rdma.rkey = shut->rkey();
  request.work.wr.rdma.remote_addr = 0;
  ASSERT_TRUE(a_->Post(std::move(request)).ok());
  Settle();
  EXPECT_THAT(Why(), HasSubstr("the region allows local read, this needs "
                               "remote read"));
}

TEST_F(WhyMethodsTest, NamesTheReceiveRequestThatWasTooShort) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 5).ok());
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("REM_INV_REQ_ERR: host-2 queue pair 0x2 refused "
                               "it: the message is longer than the receive "
                               "request, which has 5 bytes"));
}

TEST_F(WhyMethodsTest, NamesTheFaultThatFailsAWorkRequest) {
  Connect(verbs::QpType::kRc);
  AddRequestFault(1,
                  {.name = "fault-1",
                   .completion = {.status = verbs::wc_status::kRemoteAccess}});
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  SendInVain();
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "REM_ACCESS_ERR: fault-1 fails work request 77 (SEND)");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatFailsAReceiveRequest) {
  Connect(verbs::QpType::kRc);
  AddRequestFault(2, {.name = "fault-1",
                      .completion = {.status = verbs::wc_status::kGeneral}});
  ASSERT_TRUE(b_->Receive(0, 100, 5).ok());
  SendInVain();
  EXPECT_EQ(Why("host-2"),
            "host-2 queue pair 0x2: work request 5 (RECV) ended with "
            "GENERAL_ERR: fault-1 fails work request 5 (RECV)");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatKeepsReceiveRequestsBack) {
  Connect(verbs::QpType::kRc);
  AddRequestFault(2, {.name = "fault-1", .not_ready = true});
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  SendInVain();
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "RNR_RETRY_EXC_ERR: host-2 queue pair 0x2 had no receive request "
            "at 4 tries of PSN 0xfffffe in 1.92ms: fault-1 keeps its receive "
            "requests back");
}

TEST_F(WhyMethodsTest, NamesTheFaultsThatLoseAndHoldUpCompletions) {
  Connect(verbs::QpType::kRc);
  AddRequestFault(1, {.name = "fault-1",
                      .completion = {.lost = true},
                      .window = {.first = 1, .last = 1}});
  AddRequestFault(1, {.name = "fault-2",
                      .completion = {.delay = absl::Milliseconds(5)},
                      .window = {.first = 1, .last = 1}});
  for (const uint64_t id : {7, 8}) {
    ASSERT_TRUE(b_->Receive(0, 100).ok());
    ASSERT_TRUE(a_->Send(0, 10, id).ok());
    Settle();
  }
  EXPECT_THAT(Incidents("host-1"),
              ::testing::IsSupersetOf(
                  {"fault-1 loses the completion of work request 7 (SEND)",
                   "fault-2 holds up the completion of work request 8 "
                   "(SEND)"}));
  EXPECT_EQ(Why(), "");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatFlushedWhatWasPosted) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100, 5).ok());
  QueuePairOf(2).FailBy("fault-1");
  EXPECT_EQ(Why("host-2"),
            "host-2 queue pair 0x2: work request 5 (RECV) ended with "
            "WR_FLUSH_ERR: it went from RTS to ERR, by fault-1");
  b_->qp.reset();
  EXPECT_THAT(Why("host-2"), HasSubstr("it went from RTS to ERR, by fault-1"));
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  QueuePairOf(1).FailBy("fault-2");
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "WR_FLUSH_ERR: it went from RTS to ERR, by fault-2");
}

TEST_F(WhyMethodsTest, NamesTheFaultOfASendQueue) {
  Connect(verbs::QpType::kUc);
  a_->Drain();
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  QueuePairOf(1).FailToSendBy("fault-1");
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "WR_FLUSH_ERR: it went from SQD to SQE, by fault-1");
}

TEST_F(WhyMethodsTest, WhatAProgramFlushesItselfHasNotFailed) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Receive(0, 100).ok());
  a_->Modify({}, verbs::QpState::kError);
  EXPECT_EQ(Why(), "");
}

TEST_F(WhyMethodsTest, TellsWhyAReceiverFailedThatRefusedARequest) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 5, 9).ok());
  SendInVain();
  EXPECT_EQ(Why("host-2"),
            "host-2 queue pair 0x2: work request 9 (RECV) ended with "
            "LOC_LEN_ERR: the message is longer than the receive request, "
            "which has 5 bytes");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatHoldsPacketsUpForTooLong) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  lab_.AddFault(lab_.Host(1), 1, Fabric::Direction::kTransmit,
                {.delay = absl::Seconds(1)});
  SendInVain();
  EXPECT_EQ(Why(),
            "host-1 queue pair 0x2: work request 77 (SEND) ended with "
            "RETRY_EXC_ERR: 16 tries of PSN 0xfffffe in 67ms, none answered: "
            "held up at host-1/1 by loss-1, and the timeout here is 4.19ms");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatHoldsAnswersUpForTooLong) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kTransmit,
                {.delay = absl::Seconds(1)});
  SendInVain();
  EXPECT_THAT(
      Why(),
      HasSubstr("none answered: the answers of host-2 queue "
                "pair 0x2 were held up at host-2/1 by loss-1, and the timeout "
                "here is 4.19ms"));
}

TEST_F(WhyMethodsTest, TellsOfTroubleThatFailedNoRequest) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, false).ok());
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  Settle(absl::Milliseconds(6));
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, true).ok());
  Settle();
  EXPECT_EQ(Why(), "");
  EXPECT_EQ(Trouble("host-1"),
            "host-1 queue pair 0x2 sent packets again (2 "
            "times): dropped at sw1/2: the link was down from 0 to 6ms (2 "
            "times)");
  EXPECT_EQ(Trouble("host-2"), "");
}

TEST_F(WhyMethodsTest, TellsWhyAQueuePairOfNoRequestsIsInError) {
  Connect(verbs::QpType::kRc);
  QueuePairOf(1).FailBy("fault-1");
  a_->qp.reset();
  EXPECT_EQ(Trouble("host-1"),
            "host-1 queue pair 0x2 went from RTS to ERR, by fault-1");
}

TEST_F(WhyMethodsTest, TellsWhoWaitsForAReceiveRequestWithoutEnd) {
  ConnectWith([](verbs::QpAttributes& to) { to.rnr_retry = 7; });
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  Settle(absl::Milliseconds(6));
  EXPECT_THAT(Trouble("host-1"),
              MatchesRegex("host-1 queue pair 0x2 sent packets again .[0-9]+ "
                           "times.: host-2 queue pair 0x2 had no receive "
                           "request, and rnr_retry is 7: that is without end"));
}

TEST_F(WhyMethodsTest, NamesTheFaultForWhichAPeerIsWaitedForWithoutEnd) {
  ConnectWith([](verbs::QpAttributes& to) { to.rnr_retry = 7; });
  AddRequestFault(2, {.name = "fault-1", .not_ready = true});
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  Settle(absl::Milliseconds(6));
  EXPECT_THAT(Trouble("host-1"),
              HasSubstr("host-2 queue pair 0x2 had no receive request: fault-1 "
                        "keeps its receive requests back, and rnr_retry is 7: "
                        "that is without end"));
}

TEST_F(WhyMethodsTest, TellsOfTheLaterOfTwoReasonsToSendAgain) {
  ConnectWith([](verbs::QpAttributes& to) { to.rnr_retry = 7; });
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, false).ok());
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  Settle(absl::Milliseconds(6));
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, true).ok());
  Settle();
  EXPECT_THAT(Trouble("host-1"), HasSubstr("the link was down"));
  ASSERT_TRUE(a_->Send(0, 10, 78).ok());
  Settle(absl::Milliseconds(6));
  EXPECT_THAT(Trouble("host-1"), HasSubstr("that is without end"));
}

TEST_F(WhyMethodsTest, WhatWasBeforeAResetIsNoTroubleNow) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  Settle(absl::Milliseconds(1));
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  Settle();
  EXPECT_THAT(Trouble("host-1"), HasSubstr("had no receive request"));
  for (VerbsEnd* const end : {a_.get(), b_.get()}) {
    end->Modify({}, verbs::QpState::kReset);
  }
  Settle();
  VerbsEnd::Join(*a_, *b_);
  EXPECT_EQ(Trouble("host-1"), "");
}

TEST_F(WhyMethodsTest, WhatWasBeforeAResetIsNoCauseOfAFailureAfterIt) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, false).ok());
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("16 tries"));
  ASSERT_TRUE(lab_.fabric.SetLink(lab_.Host(2), 1, true).ok());
  Settle();
  for (VerbsEnd* const end : {a_.get(), b_.get()}) {
    end->Modify({}, verbs::QpState::kReset);
  }
  Settle();
  VerbsEnd::Join(*a_, *b_);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kTransmit, {.loss = 1});
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("16 tries of PSN 0xfffffe in 67ms, none "
                               "answered: the answers of host-2 queue pair 0x2 "
                               "were dropped at host-2/1: lost by loss-1"));
}

TEST_F(WhyMethodsTest, WhatAPeerHadBeforeItsResetIsNoCause) {
  Connect(verbs::QpType::kRc);
  const auto fault = lab_.fabric.AddFault(
      lab_.Host(2), 1, Fabric::Direction::kTransmit, {.loss = 1});
  ASSERT_TRUE(fault.ok());
  ASSERT_TRUE(b_->Send(0, 10, 1).ok());
  Settle();
  lab_.fabric.RemoveFault(*fault);
  b_->Modify({}, verbs::QpState::kReset);
  Settle();
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("did not take them: the state is RESET"));
}

TEST_F(WhyMethodsTest, AnAnswerThatWasLostIsNotLostForGood) {
  a_ = End(lab_.Host(1), verbs::QpType::kRc);
  b_ = End(lab_.Host(2), verbs::QpType::kRc);
  a_->Connect(VerbsEnd::Towards(*b_));
  verbs::QpAttributes to = VerbsEnd::Towards(*a_);
  to.timeout = 0;  // as before RTS, where it is set
  for (const auto state :
       {verbs::QpState::kInit, verbs::QpState::kReadyToReceive}) {
    b_->Modify(to, state, testing::StepTo(state, verbs::QpType::kRc));
  }
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kTransmit, {.loss = 0.5});
  for (int i = 0; i < 8; ++i) {
    ASSERT_TRUE(a_->Rdma(IB_UVERBS_WR_RDMA_WRITE, 0, 10, *b_, 0).ok());
    Settle();
  }
  EXPECT_THAT(Incidents("host-2"),
              ::testing::Contains(HasSubstr("lost by loss-1")));
  EXPECT_EQ(Trouble("host-2"), "");
}

TEST_F(WhyMethodsTest, TellsOfALossThatNoTimeoutNotices) {
  ConnectWith([](verbs::QpAttributes& to) { to.timeout = 0; });
  Lose(1);
  ASSERT_TRUE(a_->Send(0, 10, 77).ok());
  Settle();
  EXPECT_EQ(Trouble("host-1"),
            "host-1 queue pair 0x2 lost packets for good, as its timeout is 0: "
            "dropped at host-1/1: lost by loss-1");
}

TEST_F(WhyMethodsTest, TellsWhereDatagramsWereLost) {
  Connect(verbs::QpType::kUd);
  SendDatagram();
  EXPECT_EQ(Trouble("host-2"),
            "host-2 queue pair 0x2 lost a message: a datagram came, and there "
            "was no receive request for it");
  ASSERT_TRUE(b_->Receive(0, 47).ok());
  SendDatagram();
  EXPECT_EQ(Trouble("host-2"),
            "host-2 queue pair 0x2 lost a message: a datagram of 8 bytes and "
            "40 for the GRH came, the receive request has 47");
  for (int i = 0; i < 2; ++i) SendDatagram(VerbsEnd::kQKey ^ 1);
  EXPECT_EQ(Trouble("host-2"),
            "host-2 queue pair 0x2 did not take a packet (2 times): its Q_Key "
            "is 0x1235: this has 0x1234");
  EXPECT_EQ(Trouble("host-1"), "");
  Lose(1);
  SendDatagram();
  EXPECT_EQ(Trouble("host-1"),
            "host-1 queue pair 0x2 lost packets: dropped at host-1/1: lost by "
            "loss-1");
}

TEST_F(WhyMethodsTest, NamesTheFaultThatLosesADatagramForWantOfARequest) {
  Connect(verbs::QpType::kUd);
  AddRequestFault(2, {.name = "fault-1", .not_ready = true});
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  SendDatagram();
  EXPECT_EQ(Trouble("host-2"),
            "host-2 queue pair 0x2 lost a message: fault-1 keeps its receive "
            "requests back");
}

TEST_F(WhyMethodsTest, TheLastIncidentIsTheOneThatWasLastSo) {
  Connect(verbs::QpType::kUd);
  SendDatagram();  // no receive request
  Settle();
  SendDatagram(VerbsEnd::kQKey ^ 1);
  Settle();
  SendDatagram();
  const json queue_pair =
      Result("queue_pair.why", {{"node", "host-2"}})["queue_pairs"][0];
  const json& incidents = queue_pair["incidents"];
  EXPECT_EQ(incidents.back()["kind"], "not-taken");
  EXPECT_TRUE(incidents.back()["psn"].is_null()) << "a datagram has none";
  EXPECT_GT(queue_pair["last_ns"], incidents.back()["until_ns"]);
}

TEST_F(WhyMethodsTest, SaysThatThePeerHasNotTheGid) {
  ConnectWith([](verbs::QpAttributes& to) {
    to.ah_attr.is_global = 1;
    to.ah_attr.grh.dgid[15] = 7;
  });
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("none answered: host-2 queue pair 0x2 did not "
                               "take them: it is for the GID ::7, which the "
                               "port has not"));
}

TEST_F(WhyMethodsTest, NamesPsnsThatDoNotFit) {
  ConnectWith([](verbs::QpAttributes& to) { to.sq_psn -= 5; });
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("none answered: host-2 queue pair 0x2 expects "
                               "others: its rq_psn is 0xfffffe, the sq_psn "
                               "here 0xfffff9"));
}

TEST_F(WhyMethodsTest, NamesThePsnThatWasToComeFirst) {
  ConnectWith([](verbs::QpAttributes& to) { to.sq_psn = 5; });
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("none answered: host-2 queue pair 0x2 did not "
                               "take them: PSN 0xfffffe, its rq_psn, was to "
                               "come first: asked for it"));
}

TEST_F(WhyMethodsTest, SaysThatThePKeysDoNotMatch) {
  Connect(verbs::QpType::kRc);
  lab_.PortOf("host-2", 1).SetPKey(0, 0x8001);
  SendInVain();
  EXPECT_THAT(Why(), HasSubstr("none answered: host-2 queue pair 0x2 did not "
                               "take them: its P_Key is 0xffff: no entry of "
                               "the port's table matches: there is 0x8001"));
}

TEST_F(WhyMethodsTest, NamesWhatIsWrongAtItsOwnEnd) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(a_->SendWithAWrongKey(10).ok());
  Settle();
  EXPECT_THAT(Why(),
              HasSubstr("ended with LOC_PROT_ERR: no region has the key"));
}

TEST_F(WhyMethodsTest, AQueuePairThatWorksHasOnlyItsStates) {
  Connect(verbs::QpType::kRc);
  ASSERT_TRUE(b_->Receive(0, 100).ok());
  SendInVain();
  EXPECT_EQ(Why(), "");
  const json incidents = Result(
      "queue_pair.why", {{"node", "host-1"}})["queue_pairs"][0]["incidents"];
  ASSERT_EQ(incidents.size(), 3u) << incidents;
  EXPECT_EQ(incidents[0]["text"], "RESET to INIT, by the program");
  EXPECT_EQ(incidents[2]["text"], "RTR to RTS, by the program");
}

TEST_F(WhyMethodsTest, WhatFailedIsThereWhenTheProgramHasEnded) {
  Connect(verbs::QpType::kRc);
  SendInVain();
  a_.reset();
  EXPECT_THAT(Why(), HasSubstr("RNR_RETRY_EXC_ERR"));
  const json queue_pair =
      Result("queue_pair.why", {{"node", "host-1"}})["queue_pairs"][0];
  EXPECT_EQ(queue_pair["exists"], false);
  EXPECT_EQ(queue_pair["incidents"].back()["text"], "destroyed");
}

TEST_F(WhyMethodsTest, ADatagramWithAnotherQKeyIsNotedWhereItCame) {
  Connect(verbs::QpType::kUd);
  SendDatagram(VerbsEnd::kQKey ^ 1);
  const json incidents = Result(
      "queue_pair.why", {{"node", "host-2"}})["queue_pairs"][0]["incidents"];
  EXPECT_EQ(incidents.back()["kind"], "not-taken");
  EXPECT_EQ(incidents.back()["text"], "its Q_Key is 0x1235: this has 0x1234");
}

TEST_F(WhyMethodsTest, WhatDoesNotExistIsNamed) {
  EXPECT_THAT(Error("queue_pair.why", {{"node", "hots-1"}}),
              HasSubstr("did you mean"));
  EXPECT_EQ(Error("queue_pair.why", {{"node", "host-1"}, {"qpn", 9}}),
            "host-1 has no queue pair 0x9, and had none lately");
  EXPECT_EQ(Result("queue_pair.why", {{"node", "host-1"}})["queue_pairs"],
            json::array());
}

}  // namespace
}  // namespace ibemu::daemon
