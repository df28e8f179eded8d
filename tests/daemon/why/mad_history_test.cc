#include "daemon/why/mad_history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <memory>
#include <span>
#include <string>

#include "mad/host.h"
#include "mad/mad_class.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"
#include "tests/daemon/why/lab_diagnosis.h"

namespace ibemu::daemon {
namespace {

using mad::AttributeId, mad::MgmtClass;
using testing::Chain, testing::Lab, testing::LidGet;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

// Host-1, which asks, and host-2 on a switch.
class MadHistoryTest : public ::testing::Test,
                       protected MethodCaller,
                       protected mad::AgentClient {
 protected:
  MadHistoryTest() {
    host_ = HostOf("host-1");
    agent_ = host_->Register(1, {.qp = 1}, *this).value();
  }
  std::shared_ptr<mad::Host> HostOf(const char* node) {
    return why_.hosts.Get(*why_.adapters.Find(node));
  }
  // Asks for the ClassPortInfo of performance management, three times.
  void Ask(wire::Lid lid) {
    const mad::Outgoing get =
        LidGet(1, MgmtClass::kPerformance, lid, AttributeId::kClassPortInfo);
    ASSERT_TRUE(agent_
                    ->Send({.to = get.to,
                            .mad = {get.mad.begin(), get.mad.end()},
                            .timeout = absl::Milliseconds(100),
                            .retries = 2})
                    .ok());
    lab_.timers.RunFor(absl::Milliseconds(301));
  }
  // A request that nobody answers, even where it arrives.
  static mad::OutgoingMessage Unheard(wire::Lid lid, uint64_t tid = 1) {
    mad::Outgoing send =
        LidGet(1, MgmtClass::kDevice, lid, AttributeId::kClassPortInfo);
    wire::Put<&mad::MadHeader::method>(send.mad, mad::Method::kSend);
    wire::Put<&mad::MadHeader::tid>(send.mad, tid);
    return {.to = send.to,
            .mad = {send.mad.begin(), send.mad.end()},
            .timeout = absl::Milliseconds(100)};
  }
  // A message with RMPP of three segments, of the class SA.
  static mad::OutgoingMessage Long(wire::Lid lid, mad::Method method) {
    mad::Outgoing send = LidGet(1, MgmtClass::kSubnetAdministration, lid,
                                AttributeId::kNodeRecord);
    wire::Put<&mad::MadHeader::method>(send.mad, method);
    wire::Put<&mad::MadHeader::class_version>(send.mad, uint8_t{2});
    wire::Encode(mad::RmppHeader{.type = mad::RmppType::kData},
                 std::span(send.mad).subspan(mad::kRmppHeaderOffset));
    mad::OutgoingMessage message{.to = send.to,
                                 .mad = {send.mad.begin(), send.mad.end()},
                                 .timeout = absl::Milliseconds(100),
                                 .retries = 1};
    message.mad.resize(mad::HeaderBytes(MgmtClass::kSubnetAdministration) +
                       size_t{3} * 200);
    return message;
  }
  // An agent that sends such messages, and takes them and what is said of them.
  std::unique_ptr<mad::Agent> RegisterLong(mad::Host& host) {
    std::bitset<128> methods;
    methods.set(static_cast<size_t>(mad::Method::kGetMulti));
    methods.set(static_cast<size_t>(mad::Method::kGetTable));
    return host
        .Register(1,
                  {.qp = 1,
                   .mgmt_class = 3,
                   .mgmt_class_version = 2,
                   .methods = methods,
                   .rmpp_version = 1},
                  *this)
        .value();
  }
  // Asks host-2, which takes it, by such a message, and waits.
  void AskAtLength() {
    auto agent = RegisterLong(*host_);
    const std::shared_ptr<mad::Host> other = HostOf("host-2");
    auto receiver = RegisterLong(*other);
    ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetMulti)).ok());
    lab_.timers.RunFor(absl::Seconds(1));
  }
  json Mads(const char* node = "host-1") {
    return Result("queue_pair.why", {{"node", node}})["mads"];
  }
  std::string Why() {
    const json mads = Mads();
    EXPECT_THAT(mads, SizeIs(1));
    return mads.empty() ? "" : mads[0]["why"].get<std::string>();
  }
  void OnMad(mad::Agent&, mad::IncomingMessage) override {}
  void OnSendDone(mad::Agent&, uint64_t) override {}
  void OnSendTimeout(mad::Agent&, uint64_t) override {}

  static constexpr char kAsked[] =
      "host-1 port 1: PM Get(ClassPortInfo) to LID 2: 3 tries in 300ms, none "
      "answered: ";

  Lab lab_{Chain(1), Lab::kStatically};
  LabWhy why_{lab_, dispatcher};
  std::shared_ptr<mad::Host> host_;
  std::unique_ptr<mad::Agent> agent_;
};

TEST_F(MadHistoryTest, WhatIsAnsweredIsToldToWhoAsksForIt) {
  Ask(wire::Lid{2});
  lab_.SetLink(lab_.Host(2), 1, false);
  Ask(wire::Lid{2});
  lab_.SetLink(lab_.Host(2), 1, true);
  lab_.Configure();
  Ask(wire::Lid{2});
  const json mads =
      Result("queue_pair.why", {{"node", "host-1"}, {"all", true}})["mads"];
  ASSERT_THAT(mads, SizeIs(3));
  const auto text = [&mads](size_t i) {
    return mads[i]["why"].get<std::string>();
  };
  EXPECT_THAT(text(0), StartsWith("host-1 port 1: PM Get(ClassPortInfo) to LID "
                                  "2: answered in "));
  EXPECT_THAT(text(1), StartsWith(kAsked));
  EXPECT_THAT(text(2), HasSubstr("answered in "));
  EXPECT_LT(mads[0]["end_ns"], mads[1]["end_ns"]);
  EXPECT_EQ(mads[0]["tries"], 1);
}

TEST_F(MadHistoryTest, ALateAnswerAndItsStatusAreTold) {
  EXPECT_EQ(MadHistory::Describe(MadHistory::Answer{
                .begin = absl::UnixEpoch(),
                .end = absl::UnixEpoch() + absl::Microseconds(21),
                .tries = 1,
                .request = LidGet(1, MgmtClass::kPerformance, wire::Lid{2},
                                  AttributeId::kClassPortInfo)}),
            "PM Get(ClassPortInfo) to LID 2: answered in 21us");
  EXPECT_EQ(
      MadHistory::Describe(MadHistory::Answer{
          .begin = absl::UnixEpoch(),
          .end = absl::UnixEpoch() + absl::Milliseconds(210),
          .tries = 2,
          // The answer to an SMP that came back by a directed route.
          .status = static_cast<mad::MadStatus>(
              0x8000 |
              static_cast<unsigned>(mad::MadStatus::kUnsupportedAttribute)),
          .request = testing::DirectedGet(AttributeId::kNodeInfo, {1, 3})}),
      "SM Get(NodeInfo) by the directed route 0,1,3: answered in 210ms, sent 2 "
      "times, status 0xc");
}

TEST_F(MadHistoryTest, OfWhatIsAnsweredTheLastAreKept) {
  for (size_t i = 0; i < MadHistory::kMax + 2; ++i) Ask(wire::Lid{2});
  const auto answers = why_.mads->AnswersOf(lab_.Host(1));
  ASSERT_THAT(answers, SizeIs(MadHistory::kMax));
  for (size_t i = 1; i < answers.size(); ++i) {
    EXPECT_LT(answers[i - 1].end, answers[i].end);
  }
  EXPECT_THAT(why_.mads->AnswersOf(lab_.Host(2)), IsEmpty());
}

TEST_F(MadHistoryTest, WhatIsAnsweredIsNotKeptWithWhatIsNot) {
  Ask(wire::Lid{2});
  EXPECT_THAT(Mads(), IsEmpty());
}

TEST_F(MadHistoryTest, ALinkThatWasDownIsNamed) {
  lab_.SetLink(lab_.Host(2), 1, false);
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) +
                       "dropped at sw1/2: the link was down from 0 on (3 "
                       "times)");
  EXPECT_THAT(Mads("host-2"), IsEmpty());
}

TEST_F(MadHistoryTest, TheAnswersWayIsLookedAtAsWell) {
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kTransmit,
                {.loss = 1});
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) +
                       "the answer was dropped at host-2/1: lost by loss-1 (3 "
                       "times)");
}

TEST_F(MadHistoryTest, ANodeThatDoesNotAnswerIsNamedWithItsFault) {
  lab_.fabric.AddAgentFault(lab_.Host(2), {.loss = 1});
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) +
                       "the answer was dropped at host-2/1: lost by loss-1 (3 "
                       "times)");
}

TEST_F(MadHistoryTest, ANodeThatAnswersTooLateIsNamedWithItsFault) {
  lab_.fabric.AddAgentFault(lab_.Host(2), {.delay = absl::Seconds(5)});
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) +
                       "the answer was held up at host-2/1 by loss-1");
}

TEST_F(MadHistoryTest, ALinkThatIsTooSlowIsNamedWithItsFault) {
  lab_.AddFault(lab_.Host(1), 1, fabric::Fabric::Direction::kTransmit,
                {.delay = absl::Seconds(5)});
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) + "held up at host-1/1 by loss-1");
}

TEST_F(MadHistoryTest, WhatIsSentAgainIsKeptOnce) {
  lab_.SetLink(lab_.Host(2), 1, false);
  Ask(wire::Lid{2});
  Ask(wire::Lid{2});
  EXPECT_THAT(Why(), ::testing::HasSubstr("6 tries in 601ms"));
  lab_.timers.RunFor(2 * MadHistory::kPause);
  Ask(wire::Lid{2});
  EXPECT_THAT(Mads(), SizeIs(2));
  Ask(wire::Lid{9});
  EXPECT_THAT(Mads(), SizeIs(3));
}

TEST_F(MadHistoryTest, WhatOthersLostIsNoReason) {
  // Host-2 sends the same, with the same TID, into a link that is down.
  const std::shared_ptr<mad::Host> other = HostOf("host-2");
  auto agent = other->Register(1, {.qp = 1}, *this).value();
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2})).ok());
  lab_.timers.RunFor(absl::Milliseconds(10));
  lab_.SetLink(lab_.Host(2), 1, false);
  ASSERT_TRUE(agent->Send(Unheard(wire::Lid{1})).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(Why(), EndsWith("host-2 got it and did not answer in time"));
}

TEST_F(MadHistoryTest, WhereTooMuchWasLostNobodyIsBlamed) {
  for (size_t i = 0; i < MadHistory::kMaxLost; ++i) {
    lab_.Transmit(2, LidGet(1, MgmtClass::kPerformance, wire::Lid{9},
                            AttributeId::kClassPortInfo));
  }
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2})).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(Why(), EndsWith("none answered: the cause is not known"));
}

TEST_F(MadHistoryTest, ALidThatNoRouteLeadsToIsSaid) {
  Ask(wire::Lid{9});
  EXPECT_THAT(Why(), EndsWith("dropped at sw1/1: no forwarding entry leads to "
                              "its LID (3 times)"));
}

TEST_F(MadHistoryTest, OfAProgramThatEndsFirstOnlyWhatWasLostIsKept) {
  lab_.SetLink(lab_.Host(2), 1, false);
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2}, 1)).ok());
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{1}, 2)).ok());
  lab_.timers.RunFor(absl::Milliseconds(50));
  agent_.reset();
  EXPECT_EQ(Why(),
            "host-1 port 1: DM Send(ClassPortInfo) to LID 2: 1 try in 50ms, "
            "none answered: dropped at sw1/2: the link was down from 0 on");
}

TEST_F(MadHistoryTest, WhoGotItAndWasSilentIsSaid) {
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2})).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Why(),
            "host-1 port 1: DM Send(ClassPortInfo) to LID 2: 1 try in 100ms, "
            "none answered: host-2 got it and did not answer in time");
}

TEST_F(MadHistoryTest, AnAnswerOfManySegmentsThatWasLostOnItsWayIsKept) {
  auto agent = RegisterLong(*host_);
  lab_.SetLink(lab_.Host(2), 1, false);
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetTableResp)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetTableResp(NodeRecord) to LID 2: 2 tries of "
            "segment 1 of 3 in 200ms, none acknowledged: dropped at sw1/2: the "
            "link was down from 0 on (2 times)");
}

TEST_F(MadHistoryTest, AnAckThatWasLostOnItsWayIsNamed) {
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kTransmit,
                {.loss = 1});
  AskAtLength();
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetMulti(NodeRecord) to LID 2: 2 tries of "
            "segment 1 of 3 in 200ms, none acknowledged: its ACK was dropped "
            "at host-2/1: lost by loss-1 (2 times)");
}

TEST_F(MadHistoryTest, WhoAcknowledgedAllAndWasSilentIsSaid) {
  AskAtLength();
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetMulti(NodeRecord) to LID 2: 3 segments "
            "acknowledged, but no answer in 100ms: host-2 got it and did not "
            "answer in time");
}

TEST_F(MadHistoryTest, WhoAcknowledgesNothingIsSaid) {
  auto agent = RegisterLong(*host_);
  // Host-2 asked for nothing, so it ignores the answer.
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetTableResp)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(Why(), EndsWith("none acknowledged: host-2 got it and did not "
                              "acknowledge it in time"));
}

TEST_F(MadHistoryTest, AMessageThatItsReceiverBreaksOffIsKept) {
  auto agent = RegisterLong(*host_);
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetTableResp)).ok());
  mad::Outgoing abort = LidGet(1, MgmtClass::kSubnetAdministration,
                               wire::Lid{1}, AttributeId::kNodeRecord);
  wire::Put<&mad::MadHeader::method>(abort.mad, mad::Method::kGetTable);
  wire::Put<&mad::MadHeader::class_version>(abort.mad, uint8_t{2});
  wire::Encode(mad::RmppHeader{.type = mad::RmppType::kAbort,
                               .status = mad::RmppStatus::kTotalTimeTooLong},
               std::span(abort.mad).subspan(mad::kRmppHeaderOffset));
  lab_.Transmit(2, abort);
  lab_.timers.RunFor(absl::Milliseconds(50));
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetTableResp(NodeRecord) to LID 2: broken off "
            "at segment 1 of 3 by the receiver (Total Time Too Long)");
}

}  // namespace
}  // namespace ibemu::daemon
