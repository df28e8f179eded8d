#include "fabric/faults/agent_faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr absl::Duration kSlow = absl::Milliseconds(50);

// Host 1 asks the agents of host 2, which are slow.
struct AgentFaultsTest : ::testing::Test {
  AgentFaultsTest() : row(1) { row.Configure(); }

  AgentFaultId Add(const LinkFaults& faults) {
    return row.fabric.AddAgentFault(row.host_2, faults);
  }
  std::vector<mad::Arrival> AskSma(Lid lid = Lid{2}) {
    return row.Send(
        LidGet(0, MgmtClass::kSubnetLidRouted, lid, AttributeId::kNodeInfo));
  }
  std::vector<mad::Arrival> AskPma() {
    return row.Send(LidGet(1, MgmtClass::kPerformance, Lid{2},
                           AttributeId::kClassPortInfo));
  }

  RowFabric row;
};

TEST_F(AgentFaultsTest, ASlowNodeAnswersLate) {
  Add({.delay = kSlow});
  EXPECT_THAT(AskSma(), IsEmpty());
  row.timers.RunFor(kSlow - absl::Nanoseconds(1));
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
  row.timers.RunFor(absl::Nanoseconds(1));
  EXPECT_THAT(row.inbox.arrivals, SizeIs(1));
}

TEST_F(AgentFaultsTest, ItsPerformanceAgentIsAsSlow) {
  Add({.delay = kSlow});
  EXPECT_THAT(AskPma(), IsEmpty());
  row.timers.RunFor(kSlow);
  EXPECT_THAT(row.inbox.arrivals, SizeIs(1));
}

TEST_F(AgentFaultsTest, OtherNodesAreNot) {
  Add({.delay = kSlow});
  EXPECT_THAT(AskSma(Lid{11}), SizeIs(1));
}

TEST_F(AgentFaultsTest, DirectedRoutesAreAnsweredLateToo) {
  Add({.delay = kSlow});
  EXPECT_THAT(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2})), IsEmpty());
  row.timers.RunFor(kSlow);
  EXPECT_THAT(row.inbox.arrivals, SizeIs(1));
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
  EXPECT_EQ(row.fabric.CountsOf(fault), (FaultCounts{.packets = 1, .lost = 1}));
  row.fabric.RemoveFault(fault);
  EXPECT_THAT(AskSma(), SizeIs(1));
}

TEST_F(AgentFaultsTest, WhatAnAgentHadToSayIsForgottenWhenItsLinkGoesDown) {
  Add({.delay = kSlow});
  AskSma();
  ASSERT_TRUE(row.fabric.SetLink(row.host_2, 1, false).ok());
  ASSERT_TRUE(row.fabric.SetLink(row.host_2, 1, true).ok());
  row.Activate();
  row.timers.RunFor(2 * kSlow);
  EXPECT_THAT(row.inbox.arrivals, IsEmpty());
}

TEST_F(AgentFaultsTest, AnswersThatWaitAreLimited) {
  const AgentFaultId fault = Add({.delay = absl::Seconds(1)});
  const auto ask =
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kNodeInfo);
  for (size_t i = 0; i < AgentFaults::kMaxLate + 10; ++i) {
    ASSERT_TRUE(row.Host1().Transmit(ask).ok());
  }
  row.timers.RunFor(absl::Seconds(2));
  EXPECT_EQ(row.fabric.CountsOf(fault).packets, AgentFaults::kMaxLate + 10);
  EXPECT_THAT(row.inbox.arrivals, SizeIs(AgentFaults::kMaxLate));
}

TEST_F(AgentFaultsTest, EndWithTheFabric) {
  testing::VirtualTimers timers;
  {
    Fabric fabric(Row(0), timers, {});
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
