#include "fabric/subnet/links.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/subnet/subnet.h"
#include "testing/topologies.h"

namespace ibemu::fabric {
namespace {

using mad::PortPhysicalState, mad::PortState;
using testing::Chain;
using ::testing::Contains, ::testing::IsEmpty;

class Listener : public FabricEvents {
 public:
  void OnPortChange(PortId port) override { ports.push_back(port); }
  void OnClientReregister(PortId) override {}
  void OnLinkStateChange(topology::NodeId node) override {
    switches.push_back(node);
  }
  std::vector<PortId> ports;
  std::vector<topology::NodeId> switches;
};

// host 1 - sw1 - sw2 - host 2
struct LinksTest : ::testing::Test {
  static constexpr topology::NodeId kHost1{0}, kSw1{1}, kSw2{2}, kHost2{3};

  PortId Id(topology::NodeId node, int number) {
    return subnet.port_id(node, number);
  }
  NodePort& Port(topology::NodeId node, int number) {
    return subnet.port(Id(node, number));
  }
  PortState StateOf(topology::NodeId node, int number) {
    return Port(node, number).info.port_state;
  }
  PortPhysicalState PhysicalOf(topology::NodeId node, int number) {
    return Port(node, number).info.port_physical_state;
  }
  void Activate(topology::NodeId node, int number) {
    ASSERT_TRUE(links.SetLogicalState(Id(node, number), PortState::kArmed));
    ASSERT_TRUE(links.SetLogicalState(Id(node, number), PortState::kActive));
  }
  bool ChangeNoted(topology::NodeId node) {
    return subnet.node(node).sw->info.port_state_change;
  }

  Subnet subnet{Chain(2)};
  Listener listener;
  Links links{subnet, listener};
};

TEST_F(LinksTest, TrainsEveryCableToInitAtStartWithoutEvents) {
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kInit);
  EXPECT_EQ(PhysicalOf(kHost1, 1), PortPhysicalState::kLinkUp);
  EXPECT_EQ(StateOf(kSw1, 2), PortState::kInit);
  EXPECT_EQ(StateOf(kSw1, 5), PortState::kDown);
  EXPECT_EQ(PhysicalOf(kSw1, 5), PortPhysicalState::kPolling);
  EXPECT_EQ(StateOf(kSw1, 0), PortState::kActive) << "a base port 0";
  EXPECT_THAT(listener.ports, IsEmpty());
  EXPECT_FALSE(ChangeNoted(kSw1));
}

TEST_F(LinksTest, TakesBothEndsDownWhenTheCableIsCut) {
  Activate(kSw1, 2);
  listener.ports.clear();
  links.SetCable(Id(kSw1, 2), false);
  EXPECT_EQ(StateOf(kSw1, 2), PortState::kDown);
  EXPECT_EQ(StateOf(kSw2, 1), PortState::kDown);
  EXPECT_EQ(PhysicalOf(kSw2, 1), PortPhysicalState::kPolling);
  EXPECT_EQ(Port(kSw1, 2).Events().link_downed, 1u);
  EXPECT_EQ(Port(kSw1, 2).info.link_speed_ext_active, 0);
  EXPECT_TRUE(ChangeNoted(kSw1));
  EXPECT_TRUE(ChangeNoted(kSw2));
  EXPECT_THAT(listener.switches, ::testing::ElementsAre(kSw1, kSw2));
  EXPECT_THAT(listener.ports, Contains(Id(kSw2, 1)));
}

TEST_F(LinksTest, TrainsAgainWhenTheCableIsBack) {
  links.SetCable(Id(kHost1, 1), false);
  links.SetCable(Id(kSw1, 1), true);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kInit);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kInit);
}

TEST_F(LinksTest, DoesNotCountACableThatIsCutTwice) {
  links.SetCable(Id(kHost1, 1), false);
  links.SetCable(Id(kHost1, 1), false);
  EXPECT_EQ(Port(kHost1, 1).Events().link_downed, 1u);
}

TEST_F(LinksTest, FollowsArmedAndActiveInThisOrderOnly) {
  const PortId id = Id(kSw1, 1);
  EXPECT_FALSE(links.SetLogicalState(id, PortState::kActive));
  EXPECT_TRUE(links.SetLogicalState(id, PortState::kArmed));
  EXPECT_TRUE(links.SetLogicalState(id, PortState::kActive));
  EXPECT_FALSE(links.SetLogicalState(id, PortState::kArmed));
  EXPECT_FALSE(links.SetLogicalState(id, PortState::kInit));
  EXPECT_FALSE(links.SetLogicalState(Id(kSw1, 5), PortState::kArmed))
      << "no link";
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kInit) << "each end by itself";
}

TEST_F(LinksTest, RetrainsAfterTheManagerSetsAPortDown) {
  Activate(kSw1, 2);
  Activate(kSw2, 1);
  EXPECT_TRUE(links.SetLogicalState(Id(kSw1, 2), PortState::kDown));
  EXPECT_EQ(StateOf(kSw1, 2), PortState::kInit);
  EXPECT_EQ(StateOf(kSw2, 1), PortState::kInit);
  EXPECT_EQ(Port(kSw2, 1).Events().link_downed, 1u);
}

TEST_F(LinksTest, StaysDownWhileAnEndIsDisabled) {
  EXPECT_TRUE(
      links.SetPhysicalState(Id(kSw1, 1), PortPhysicalState::kDisabled));
  EXPECT_EQ(PhysicalOf(kSw1, 1), PortPhysicalState::kDisabled);
  EXPECT_EQ(PhysicalOf(kHost1, 1), PortPhysicalState::kPolling);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kDown);
  links.SetCable(Id(kSw1, 1), false);
  links.SetCable(Id(kSw1, 1), true);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kDown);
  EXPECT_TRUE(links.SetPhysicalState(Id(kSw1, 1), PortPhysicalState::kPolling));
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kInit);
  EXPECT_EQ(PhysicalOf(kSw1, 1), PortPhysicalState::kLinkUp);
}

TEST_F(LinksTest, WakesASleepingPortOnlyByAPollingOne) {
  Port(kHost1, 1).info.link_down_default_state = PortPhysicalState::kSleep;
  links.SetPhysicalState(Id(kSw1, 1), PortPhysicalState::kSleep);
  EXPECT_EQ(PhysicalOf(kHost1, 1), PortPhysicalState::kSleep);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kDown);
  links.SetPhysicalState(Id(kSw1, 1), PortPhysicalState::kPolling);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kInit);
}

TEST_F(LinksTest, RefusesStatesThatNobodyCanAskFor) {
  EXPECT_FALSE(links.SetPhysicalState(Id(kSw1, 1), PortPhysicalState::kLinkUp));
  EXPECT_FALSE(links.SetPhysicalState(Id(kSw1, 0), PortPhysicalState::kPolling))
      << "port 0 has no link";
  EXPECT_FALSE(links.SetLogicalState(Id(kSw1, 0), PortState::kDown));
  EXPECT_TRUE(
      links.SetPhysicalState(Id(kSw1, 1), PortPhysicalState::kNoChange));
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kInit);
}

TEST_F(LinksTest, TrainsToTheBestThatBothEndsHaveEnabled) {
  EXPECT_EQ(Port(kSw1, 2).info.link_width_active, mad::link_width::k4x);
  EXPECT_EQ(Port(kSw1, 2).info.link_speed_ext_active,
            mad::link_speed_ext::kHdr);
  Port(kSw2, 1).info.link_width_enabled = mad::link_width::k1x;
  Port(kSw1, 2).info.link_speed_ext_enabled = mad::link_speed_ext::kFdr;
  EXPECT_EQ(Port(kSw1, 2).info.link_width_active, mad::link_width::k4x)
      << "until it trains again";
  links.SetLogicalState(Id(kSw1, 2), PortState::kDown);
  for (const auto& [node, number] : {std::pair(kSw1, 2), std::pair(kSw2, 1)}) {
    EXPECT_EQ(Port(node, number).info.link_width_active, mad::link_width::k1x);
    EXPECT_EQ(Port(node, number).info.link_speed_ext_active,
              mad::link_speed_ext::kFdr);
  }
}

TEST_F(LinksTest, StaysDownWithoutAWidthInCommon) {
  Port(kSw2, 1).info.link_width_supported = mad::link_width::k2x;
  Port(kSw2, 1).info.link_width_enabled = mad::link_width::k2x;
  links.SetLogicalState(Id(kSw1, 2), PortState::kDown);
  EXPECT_EQ(StateOf(kSw1, 2), PortState::kDown);
  EXPECT_EQ(PhysicalOf(kSw1, 2), PortPhysicalState::kPolling);
}

TEST_F(LinksTest, SilencesANodeThatIsSwitchedOff) {
  links.SetNode(kSw1, false);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kDown);
  EXPECT_EQ(StateOf(kSw2, 1), PortState::kDown);
  EXPECT_TRUE(ChangeNoted(kSw2));
  links.SetCable(Id(kHost1, 1), false);
  links.SetCable(Id(kHost1, 1), true);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kDown);
}

TEST_F(LinksTest, PullingOutAnAdapterCutsItsLinks) {
  links.SetPlugged(kHost1, false);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kDown);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kDown);
  EXPECT_THAT(listener.switches, ::testing::ElementsAre(kSw1));
  EXPECT_TRUE(ChangeNoted(kSw1));
  links.SetCable(Id(kHost1, 1), false);
  links.SetCable(Id(kHost1, 1), true);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kDown);
  links.SetPlugged(kHost1, true);
  EXPECT_EQ(StateOf(kHost1, 1), PortState::kInit);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kInit);
}

TEST_F(LinksTest, ANodeNeedsItsAdapterAndPower) {
  links.SetNode(kHost1, false);
  links.SetPlugged(kHost1, false);
  links.SetNode(kHost1, true);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kDown);
  links.SetNode(kHost1, false);
  links.SetPlugged(kHost1, true);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kDown);
  links.SetNode(kHost1, true);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kInit);
  EXPECT_EQ(Port(kSw1, 1).Events().link_downed, 1u);
}

TEST_F(LinksTest, ForgetsWhatTheManagerSetWhenANodeIsSwitchedOn) {
  Port(kSw1, 0).info.lid = wire::Lid{5};
  Port(kSw1, 0).info.m_key = 77;
  subnet.node(kSw1).sw->linear.Set(wire::Lid{5}, 1);
  Port(kSw1, 1).SetPKey(3, 0x8001);
  links.SetNode(kSw1, false);
  links.SetNode(kSw1, true);
  EXPECT_EQ(Port(kSw1, 0).info.lid, wire::Lid::kUnassigned);
  EXPECT_EQ(Port(kSw1, 0).info.m_key, 0u);
  EXPECT_EQ(subnet.node(kSw1).sw->linear.Lookup(wire::Lid{5}),
            LinearTable::kNoPort);
  EXPECT_EQ(Port(kSw1, 1).PKeyAt(3), 0);
  EXPECT_EQ(StateOf(kSw1, 1), PortState::kInit);
  EXPECT_EQ(StateOf(kSw2, 1), PortState::kInit);
}

TEST_F(LinksTest, MovesACableToAnotherPort) {
  links.Relink(Id(kSw1, 2), Id(kSw2, 7));
  EXPECT_EQ(Port(kSw2, 1).peer, kNoPort);
  EXPECT_EQ(StateOf(kSw2, 1), PortState::kDown);
  EXPECT_EQ(Port(kSw2, 7).peer, Id(kSw1, 2));
  EXPECT_EQ(StateOf(kSw2, 7), PortState::kInit);
  links.Relink(Id(kSw1, 2), kNoPort);
  EXPECT_EQ(StateOf(kSw2, 7), PortState::kDown);
  EXPECT_EQ(Port(kSw1, 2).peer, kNoPort);
}

TEST_F(LinksTest, TakesTheCableFromAPortThatGetsAnother) {
  links.Relink(Id(kSw1, 3), Id(kHost2, 1));
  EXPECT_EQ(Port(kHost2, 1).peer, Id(kSw1, 3));
  EXPECT_EQ(Port(kSw2, 2).peer, kNoPort);
  EXPECT_EQ(StateOf(kSw2, 2), PortState::kDown);
}

TEST_F(LinksTest, KnowsTheFaultThatHasCutACable) {
  const auto both = [this] {
    EXPECT_EQ(links.CutBy(Id(kHost1, 1)), links.CutBy(Id(kSw1, 1)));
    return links.CutBy(Id(kHost1, 1));
  };
  EXPECT_EQ(both(), 0u);
  links.SetCable(Id(kHost1, 1), false, 7);
  EXPECT_EQ(both(), 7u);
  links.SetCable(Id(kSw1, 1), false, 8);
  EXPECT_EQ(both(), 7u) << "it was cut already";
  links.SetCable(Id(kSw1, 1), true);
  EXPECT_EQ(both(), 0u);
  links.SetCable(Id(kHost1, 1), false);
  EXPECT_EQ(both(), 0u) << "by hand";
  links.SetCable(Id(kHost1, 1), true);
  links.SetCable(Id(kHost1, 1), false, 9);
  links.Relink(Id(kHost1, 1), kNoPort);
  EXPECT_EQ(both(), 0u);
}

}  // namespace
}  // namespace ibemu::fabric
