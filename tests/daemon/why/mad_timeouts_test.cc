#include "daemon/why/mad_timeouts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bitset>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "daemon/adapters/fabric_adapters.h"
#include "daemon/why/why_methods.h"
#include "mad/host.h"
#include "mad/mad_class.h"
#include "nlohmann/json.hpp"
#include "testing/lab.h"
#include "tests/daemon/method_caller.h"

namespace ibemu::daemon {
namespace {

using mad::AttributeId, mad::MgmtClass;
using testing::Chain, testing::Lab, testing::LidGet;
using ::testing::EndsWith;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Host-1, which asks, and host-2 on a switch.
class MadTimeoutsTest : public ::testing::Test,
                        protected MethodCaller,
                        protected mad::AgentClient {
 protected:
  MadTimeoutsTest() {
    timeouts_.emplace(lab_.timers, lab_.fabric, diagnosis_, hosts_);
    methods_.emplace(lab_.timers, lab_.fabric, diagnosis_, *timeouts_);
    methods_->AddTo(dispatcher);
    host_ = hosts_.Get(*adapters_.Find("host-1"));
    agent_ = host_->Register(1, {.qp = 1}, *this).value();
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
  const LinkOutages outages_{lab_.timers, lab_.fabric};
  const Diagnosis diagnosis_{lab_.fabric, outages_,
                             [](fabric::PortId, uint32_t) { return "loss-1"; },
                             lab_.timers.Now()};
  FabricAdapters adapters_{lab_.fabric};
  std::optional<MadTimeouts> timeouts_;
  HostTable hosts_{lab_.timers, adapters_};
  std::optional<WhyMethods> methods_;
  std::shared_ptr<mad::Host> host_;
  std::unique_ptr<mad::Agent> agent_;
};

TEST_F(MadTimeoutsTest, WhatIsAnsweredIsNotKept) {
  Ask(wire::Lid{2});
  EXPECT_THAT(Mads(), IsEmpty());
}

TEST_F(MadTimeoutsTest, ALinkThatWasDownIsNamed) {
  lab_.SetLink(lab_.Host(2), 1, false);
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) +
                       "dropped at sw1/2: the link was down from 0 on (3 "
                       "times)");
  EXPECT_THAT(Mads("host-2"), IsEmpty());
}

TEST_F(MadTimeoutsTest, TheAnswersWayIsLookedAtAsWell) {
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kTransmit,
                {.loss = 1});
  Ask(wire::Lid{2});
  EXPECT_EQ(Why(), std::string(kAsked) +
                       "the answer was dropped at host-2/1: lost by loss-1 (3 "
                       "times)");
}

TEST_F(MadTimeoutsTest, WhatIsSentAgainIsKeptOnce) {
  lab_.SetLink(lab_.Host(2), 1, false);
  Ask(wire::Lid{2});
  Ask(wire::Lid{2});
  EXPECT_THAT(Why(), ::testing::HasSubstr("6 tries in 601ms"));
  lab_.timers.RunFor(2 * MadTimeouts::kPause);
  Ask(wire::Lid{2});
  EXPECT_THAT(Mads(), SizeIs(2));
  Ask(wire::Lid{9});
  EXPECT_THAT(Mads(), SizeIs(3));
}

TEST_F(MadTimeoutsTest, WhatOthersLostIsNoReason) {
  // Host-2 sends the same, with the same TID, into a link that is down.
  const std::shared_ptr<mad::Host> other =
      hosts_.Get(*adapters_.Find("host-2"));
  auto agent = other->Register(1, {.qp = 1}, *this).value();
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2})).ok());
  lab_.timers.RunFor(absl::Milliseconds(10));
  lab_.SetLink(lab_.Host(2), 1, false);
  ASSERT_TRUE(agent->Send(Unheard(wire::Lid{1})).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(Why(), EndsWith("host-2 got it and did not answer in time"));
}

TEST_F(MadTimeoutsTest, WhereTooMuchWasLostNobodyIsBlamed) {
  for (size_t i = 0; i < MadTimeouts::kMostDrops; ++i) {
    lab_.Transmit(2, LidGet(1, MgmtClass::kPerformance, wire::Lid{9},
                            AttributeId::kClassPortInfo));
  }
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2})).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(Why(), EndsWith("none answered: the cause is not known"));
}

TEST_F(MadTimeoutsTest, ALidThatNoRouteLeadsToIsSaid) {
  Ask(wire::Lid{9});
  EXPECT_THAT(Why(), EndsWith("dropped at sw1/1: no forwarding entry leads to "
                              "its LID (3 times)"));
}

TEST_F(MadTimeoutsTest, OfAProgramThatEndsFirstOnlyWhatWasLostIsKept) {
  lab_.SetLink(lab_.Host(2), 1, false);
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2}, 1)).ok());
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{1}, 2)).ok());
  lab_.timers.RunFor(absl::Milliseconds(50));
  agent_.reset();
  EXPECT_EQ(Why(),
            "host-1 port 1: DM Send(ClassPortInfo) to LID 2: 1 try in 50ms, "
            "none answered: dropped at sw1/2: the link was down from 0 on");
}

TEST_F(MadTimeoutsTest, WhoGotItAndWasSilentIsSaid) {
  ASSERT_TRUE(agent_->Send(Unheard(wire::Lid{2})).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Why(),
            "host-1 port 1: DM Send(ClassPortInfo) to LID 2: 1 try in 100ms, "
            "none answered: host-2 got it and did not answer in time");
}

TEST_F(MadTimeoutsTest, AnAnswerOfManySegmentsThatWasLostOnItsWayIsKept) {
  auto agent = RegisterLong(*host_);
  lab_.SetLink(lab_.Host(2), 1, false);
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetTableResp)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetTableResp(NodeRecord) to LID 2: 2 tries of "
            "segment 1 of 3 in 200ms, none acknowledged: dropped at sw1/2: the "
            "link was down from 0 on (2 times)");
}

TEST_F(MadTimeoutsTest, AnAckThatWasLostOnItsWayIsNamed) {
  auto agent = RegisterLong(*host_);
  const std::shared_ptr<mad::Host> other =
      hosts_.Get(*adapters_.Find("host-2"));
  auto receiver = RegisterLong(*other);
  lab_.AddFault(lab_.Host(2), 1, fabric::Fabric::Direction::kTransmit,
                {.loss = 1});
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetMulti)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetMulti(NodeRecord) to LID 2: 2 tries of "
            "segment 1 of 3 in 200ms, none acknowledged: its ACK was dropped "
            "at host-2/1: lost by loss-1 (2 times)");
}

TEST_F(MadTimeoutsTest, WhoAcknowledgedAllAndWasSilentIsSaid) {
  auto agent = RegisterLong(*host_);
  const std::shared_ptr<mad::Host> other =
      hosts_.Get(*adapters_.Find("host-2"));
  auto receiver = RegisterLong(*other);
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetMulti)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_EQ(Why(),
            "host-1 port 1: SA GetMulti(NodeRecord) to LID 2: 3 segments "
            "acknowledged, but no answer in 100ms: host-2 got it and did not "
            "answer in time");
}

TEST_F(MadTimeoutsTest, WhoAcknowledgesNothingIsSaid) {
  auto agent = RegisterLong(*host_);
  // Host-2 asked for nothing, so it ignores the answer.
  ASSERT_TRUE(agent->Send(Long(wire::Lid{2}, mad::Method::kGetTableResp)).ok());
  lab_.timers.RunFor(absl::Seconds(1));
  EXPECT_THAT(Why(), EndsWith("none acknowledged: host-2 got it and did not "
                              "acknowledge it in time"));
}

TEST_F(MadTimeoutsTest, AMessageThatItsReceiverBreaksOffIsKept) {
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
