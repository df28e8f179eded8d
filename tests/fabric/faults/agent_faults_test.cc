#include "fabric/faults/agent_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::DirectedGet, testing::LidGet;

constexpr absl::Duration kSlow = absl::Milliseconds(50);

// Host 1 asks the agents of host 2, which are slow.
struct AgentFaultsTest : ::testing::Test {
  AgentFaultId Add(const LinkFaults& faults) {
    return lab.fabric.AddAgentFault(lab.Host(2), faults);
  }
  std::vector<mad::Arrival> AskSma(Lid lid = Lid{2}) {
    return lab.Send(
        LidGet(0, MgmtClass::kSubnetLidRouted, lid, AttributeId::kNodeInfo));
  }
  std::vector<mad::Arrival> AskPma() {
    return lab.Send(LidGet(1, MgmtClass::kPerformance, Lid{2},
                           AttributeId::kClassPortInfo));
  }

  Lab lab{Chain(1), Lab::kStatically};
};

TEST_F(AgentFaultsTest, ASlowNodeAnswersLate) {
  Add({.delay = kSlow});
  EXPECT_THAT(AskSma(), IsEmpty());
  lab.timers.RunFor(kSlow - absl::Nanoseconds(1));
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
  lab.timers.RunFor(absl::Nanoseconds(1));
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(1));
}

TEST_F(AgentFaultsTest, ItsPerformanceAgentIsAsSlow) {
  Add({.delay = kSlow});
  EXPECT_THAT(AskPma(), IsEmpty());
  lab.timers.RunFor(kSlow);
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(1));
}

TEST_F(AgentFaultsTest, OtherNodesAreNot) {
  Add({.delay = kSlow});
  EXPECT_THAT(AskSma(lab.LidOf("sw1", 0)), SizeIs(1));
}

TEST_F(AgentFaultsTest, DirectedRoutesAreAnsweredLateToo) {
  Add({.delay = kSlow});
  EXPECT_THAT(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2})), IsEmpty());
  lab.timers.RunFor(kSlow);
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(1));
}

TEST_F(AgentFaultsTest, OneAttributeMayBeSlowAlone) {
  Add({.delay = kSlow,
       .concerns = {.kind = PacketFilter::Kind::kMads,
                    .mgmt_class = MgmtClass::kPerformance}});
  EXPECT_THAT(AskSma(), SizeIs(1));
  EXPECT_THAT(AskPma(), IsEmpty());
}

TEST_F(AgentFaultsTest, ASilentNodeIsCountedUntilTheFaultIsRemoved) {
  const AgentFaultId fault = Add({.loss = 1});
  EXPECT_THAT(AskSma(), IsEmpty());
  EXPECT_EQ(lab.fabric.CountsOf(fault), (FaultCounts{.packets = 1, .lost = 1}));
  lab.fabric.RemoveFault(fault);
  EXPECT_THAT(AskSma(), SizeIs(1));
}

TEST_F(AgentFaultsTest, WhatAnAgentHadToSayIsForgottenWhenItsLinkGoesDown) {
  Add({.delay = kSlow});
  AskSma();
  lab.SetLink(lab.Host(2), 1, false);
  lab.SetLink(lab.Host(2), 1, true);
  lab.Activate();
  lab.timers.RunFor(2 * kSlow);
  EXPECT_THAT(lab.inbox.arrivals, IsEmpty());
}

TEST_F(AgentFaultsTest, AnswersThatWaitAreLimited) {
  const AgentFaultId fault = Add({.delay = absl::Seconds(1)});
  const auto ask =
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNodeInfo);
  for (size_t i = 0; i < AgentFaults::kMaxLate + 10; ++i) {
    lab.Transmit(1, ask);
  }
  lab.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(lab.fabric.CountsOf(fault).packets, AgentFaults::kMaxLate + 10);
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(AgentFaults::kMaxLate));
}

TEST_F(AgentFaultsTest, EndWithTheFabric) {
  testing::VirtualTimers timers;
  {
    Fabric fabric(Chain(0), timers, {});
    fabric.AddAgentFault(topology::NodeId{1}, {.delay = kSlow});
    ASSERT_TRUE(fabric.device(topology::NodeId{0})
                    .port(1)
                    .Transmit(DirectedGet(AttributeId::kNodeInfo, {1}))
                    .ok());
    timers.RunPending();
    EXPECT_FALSE(timers.idle());
  }
  timers.RunFor(absl::Seconds(1));  // must not touch what is gone
  EXPECT_TRUE(timers.idle());
}

}  // namespace
}  // namespace ibemu::fabric
