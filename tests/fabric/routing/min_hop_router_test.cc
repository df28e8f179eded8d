#include "fabric/routing/min_hop_router.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fabric/routing/static_sm.h"
#include "fabric/routing/switch_ranks.h"
#include "testing/lab.h"
#include "tests/fabric/routes.h"

namespace ibemu::fabric {
namespace {

using wire::Lid;

std::vector<topology::NodeId> SwitchesOf(const Subnet& subnet) {
  std::vector<topology::NodeId> switches;
  for (const Node& node : subnet.nodes()) {
    if (node.is_switch()) {
      switches.push_back(subnet.port(node.first_port).node);
    }
  }
  return switches;
}

// Configured, then cut, then routed again.
struct CutLab : testing::Lab {
  explicit CutLab(std::string_view text) : Lab(text) {
    EXPECT_TRUE(ConfigureSubnet(subnet()).ok());
  }
  void Cut(std::string_view node, int port) {
    fabric.links().SetCable(IdOf(node, port), false);
  }
  // By the name of the other end.
  void Cut(std::string_view node, std::string_view other) {
    for (const NodePort& port : subnet().PortsOf(subnet().node(Find(node)))) {
      if (port.number != 0 && port.peer != kNoPort &&
          subnet().port(port.peer).node == Find(other)) {
        fabric.links().SetCable(subnet().id_of(port), false);
      }
    }
  }
  void Route() {
    MinHopRouter(subnet(), SwitchesOf(subnet())).Route(Lid{top()});
  }
  uint16_t top() const { return 63; }

  // Times that the way turns up after it went down.
  int Turns(const Walk& walk) {
    const std::vector<uint16_t> ranks = RankSwitches(subnet());
    const auto rank = [&](PortId id) {
      return ranks[static_cast<size_t>(subnet().port(id).node)];
    };
    int turns = 0;
    bool down = false;
    for (const PortId sender : walk.senders) {
      const PortId next = subnet().port(sender).peer;
      if (!subnet().NodeOf(sender).is_switch() ||
          !subnet().NodeOf(next).is_switch()) {
        continue;
      }
      const bool goes_down = rank(next) < rank(sender);
      if (down && !goes_down) ++turns;
      down = goes_down;
    }
    return turns;
  }
  std::vector<PortId> Hosts() {
    std::vector<PortId> hosts;
    for (const PortId end : EndPorts(subnet())) {
      if (!subnet().NodeOf(end).is_switch()) hosts.push_back(end);
    }
    return hosts;
  }
};

TEST(MinHopRouterTest, LeadsAroundACutSpineWithoutTurningUpAgain) {
  CutLab lab("fat-tree:radix=6,levels=2");
  lab.fabric.SetNode(lab.Find("spine-1"), false);
  lab.Cut("leaf-1", "spine-2");
  lab.Route();
  for (const PortId from : lab.Hosts()) {
    for (const PortId to : lab.Hosts()) {
      if (from == to) continue;
      const Walk walk =
          Follow(lab.subnet(), from, lab.subnet().port(to).info.lid);
      ASSERT_EQ(walk.end, to)
          << lab.subnet().PortName(from) << " to " << lab.subnet().PortName(to);
      ASSERT_EQ(lab.Turns(walk), 0);
    }
  }
}

// Two pods under two cores, whose middle switches lost some of their leaves: a
// way through a third leaf is as short as the one through a core.
TEST(MinHopRouterTest, PrefersTheCoreToAnEquallyShortWayThroughALeaf) {
  CutLab lab(R"(
Switch 8 "core"
[1] "mid-1"[5]
[2] "mid-2"[5]

Switch 8 "mid-1"
[1] "leaf-1"[1]
[2] "leaf-2"[1]
[3] "leaf-3"[1]
[5] "core"[1]

Switch 8 "mid-2"
[1] "leaf-1"[2]
[2] "leaf-2"[2]
[3] "leaf-3"[2]
[5] "core"[2]

Switch 8 "leaf-1"
[1] "mid-1"[1]
[2] "mid-2"[1]
[3] "a"[1]

Switch 8 "leaf-2"
[1] "mid-1"[2]
[2] "mid-2"[2]
[3] "b"[1]

Switch 8 "leaf-3"
[1] "mid-1"[3]
[2] "mid-2"[3]
[3] "c"[1]

Ca 1 "a"
[1] "leaf-1"[3]

Ca 1 "b"
[1] "leaf-2"[3]

Ca 1 "c"
[1] "leaf-3"[3]
)");
  lab.Cut("leaf-1", "mid-2");
  lab.Cut("leaf-2", "mid-1");
  lab.Route();
  for (const auto& [from, to] : {std::pair("a", "b"), std::pair("b", "a"),
                                 std::pair("a", "c"), std::pair("c", "b")}) {
    const Walk walk = Follow(lab.subnet(), lab.IdOf(from, 1), lab.LidOf(to));
    EXPECT_EQ(walk.end, lab.IdOf(to, 1)) << from << " to " << to;
    EXPECT_EQ(lab.Turns(walk), 0) << from << " to " << to;
  }

  // Without the core there is only the way through the third leaf.
  lab.fabric.SetNode(lab.Find("core"), false);
  lab.Route();
  const Walk walk = Follow(lab.subnet(), lab.IdOf("a", 1), lab.LidOf("b"));
  EXPECT_EQ(walk.end, lab.IdOf("b", 1));
  EXPECT_EQ(lab.Turns(walk), 1);
}

TEST(MinHopRouterTest, WhatCannotBeReachedHasNoEntry) {
  CutLab lab("fat-tree:radix=4,levels=2");
  const Lid lid = lab.LidOf("node-1");
  const auto entry = [&] {
    return lab.subnet().node(lab.Find("spine-1")).sw->linear.Lookup(lid);
  };
  EXPECT_NE(entry(), LinearTable::kNoPort);
  lab.Cut("leaf-1", "spine-1");
  lab.Cut("leaf-1", "spine-2");
  lab.Route();
  EXPECT_EQ(entry(), LinearTable::kNoPort);
}

TEST(MinHopRouterTest, ALidThatNobodyHasAnyMoreHasNoEntry) {
  CutLab lab("single-switch:hosts=3");
  const LinearTable& table =
      lab.subnet().node(SwitchesOf(lab.subnet()).front()).sw->linear;
  const Lid old = lab.LidOf("node-2");
  ASSERT_NE(table.Lookup(old), LinearTable::kNoPort);
  lab.PortOf("node-2", 1).info.lid = Lid{40};
  lab.Route();
  EXPECT_EQ(table.Lookup(old), LinearTable::kNoPort);
  EXPECT_EQ(Follow(lab.subnet(), lab.IdOf("node-1", 1), Lid{40}).end,
            lab.IdOf("node-2", 1));
}

TEST(MinHopRouterTest, PiecesMakeTheSameTables) {
  CutLab whole("fat-tree:radix=6,levels=3");
  CutLab pieces("fat-tree:radix=6,levels=3");
  const std::vector<topology::NodeId> switches = SwitchesOf(pieces.subnet());
  for (const topology::NodeId id : switches) {
    pieces.subnet().node(id).sw->linear = LinearTable();
  }
  MinHopRouter router(pieces.subnet(), switches);
  int calls = 1;
  while (!router.RouteSome(1, Lid{99})) ++calls;
  EXPECT_EQ(calls, static_cast<int>(switches.size()));
  for (const topology::NodeId id : switches) {
    for (uint16_t lid = 1; lid <= 99; ++lid) {
      ASSERT_EQ(pieces.subnet().node(id).sw->linear.Lookup(Lid{lid}),
                whole.subnet().node(id).sw->linear.Lookup(Lid{lid}));
    }
  }
}

TEST(MinHopRouterTest, CoversFewerHostsAndNoOtherCables) {
  CutLab lab("fat-tree:radix=4,levels=2");
  const std::vector<topology::NodeId> switches = SwitchesOf(lab.subnet());
  const MinHopRouter all(lab.subnet(), switches);
  EXPECT_TRUE(all.Covers(MinHopRouter(lab.subnet(), switches)));
  lab.Cut("node-1", 1);
  const MinHopRouter fewer(lab.subnet(), switches);
  EXPECT_TRUE(all.Covers(fewer));
  EXPECT_FALSE(fewer.Covers(all));
  lab.Cut("leaf-1", "spine-1");
  EXPECT_FALSE(all.Covers(MinHopRouter(lab.subnet(), switches)));
}

TEST(MinHopRouterTest, AHostThatHasAnotherLidIsAnotherHost) {
  CutLab lab("fat-tree:radix=4,levels=2");
  const std::vector<topology::NodeId> switches = SwitchesOf(lab.subnet());
  const MinHopRouter before(lab.subnet(), switches);
  lab.PortOf("node-1", 1).info.lid = Lid{50};
  EXPECT_FALSE(before.Covers(MinHopRouter(lab.subnet(), switches)));
}

}  // namespace
}  // namespace ibemu::fabric
