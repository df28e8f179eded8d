#include "fabric/routing/static_sm.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fabric/net.h"
#include "topology/formats/load_topology.h"

namespace ibemu::fabric {
namespace {

using wire::Lid, mad::PortState;

// Cables between each switch and `to`, by breadth-first search.
std::vector<size_t> Distances(const Subnet& subnet, topology::NodeId to) {
  std::vector<size_t> distance(subnet.nodes().size(), SIZE_MAX);
  std::vector<topology::NodeId> queue{to};
  distance[static_cast<size_t>(to)] = 0;
  for (size_t i = 0; i < queue.size(); ++i) {
    const Node& node = subnet.node(queue[i]);
    if (i > 0 && !node.is_switch()) continue;  // adapters do not forward
    for (const NodePort& port : subnet.PortsOf(node)) {
      if (port.peer == kNoPort) continue;
      const topology::NodeId next = subnet.port(port.peer).node;
      if (distance[static_cast<size_t>(next)] != SIZE_MAX) continue;
      distance[static_cast<size_t>(next)] =
          distance[static_cast<size_t>(queue[i])] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

class StaticSmTest : public ::testing::TestWithParam<const char*> {};

TEST_P(StaticSmTest, LeadsEveryEndToEveryOtherOnAShortestPath) {
  Net net(Generated(GetParam()));
  ASSERT_TRUE(ConfigureStatically(net.fabric).ok());
  const Subnet& subnet = net.subnet();

  const std::vector<PortId> ends = EndPorts(subnet);
  for (const PortId to : ends) {
    const std::vector<size_t> distance =
        Distances(subnet, subnet.port(to).node);
    for (const PortId from : ends) {
      if (from == to) continue;
      const Walk walk = Follow(subnet, from, subnet.port(to).info.lid);
      ASSERT_EQ(walk.end, to)
          << subnet.PortName(from) << " to " << subnet.PortName(to);
      ASSERT_EQ(walk.senders.size(),
                distance[static_cast<size_t>(subnet.port(from).node)]);
    }
  }
}

TEST_P(StaticSmTest, LeavesEveryLinkActive) {
  Net net(Generated(GetParam()));
  ASSERT_TRUE(ConfigureStatically(net.fabric).ok());
  for (const NodePort& port : net.subnet().ports()) {
    const bool has_link = port.peer != kNoPort || port.number == 0;
    EXPECT_EQ(port.info.port_state,
              has_link ? PortState::kActive : PortState::kDown)
        << net.subnet().PortName(net.subnet().id_of(port));
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, StaticSmTest,
    ::testing::Values("back-to-back", "single-switch:hosts=5,ports=8",
                      "fat-tree:radix=8,levels=2",
                      "fat-tree:radix=8,levels=2,hosts=11",
                      "fat-tree:radix=6,levels=3",
                      "fat-tree:radix=6,levels=3,hosts=25", "torus:5",
                      "torus:2x2x2", "torus:3x4,hosts=2", "torus:4x4x3",
                      "dragonfly:a=4", "dragonfly:a=3,h=2,p=1,g=3"));

TEST(StaticSmLidTest, GivesLidsToHostsFirstInTheOrderOfTheFile) {
  Net net(*topology::ParseTopology(R"(
Switch 4 "sw1"
[1] "h2"[2]
[2] "h1"[1]
[4] "sw2"[1]

Ca 2 "h2"
[2] "sw1"[1]

Switch 4 "sw2"
[1] "sw1"[4]

Ca 1 "h1"
[1] "sw1"[2]
)",
                                   "lab.net"));
  ASSERT_TRUE(ConfigureStatically(net.fabric).ok());
  EXPECT_EQ(net.LidOf("h2", 2), Lid{1});
  EXPECT_EQ(net.LidOf("h2", 1), Lid::kUnassigned);  // no cable
  EXPECT_EQ(net.LidOf("h1"), Lid{2});
  EXPECT_EQ(net.LidOf("sw1", 0), Lid{3});
  EXPECT_EQ(net.LidOf("sw2", 0), Lid{4});
  EXPECT_EQ(net.PortOf("h1", 1).info.lmc, 0);
  EXPECT_EQ(net.PortOf("h1", 1).info.master_sm_lid, Lid::kUnassigned);
  EXPECT_EQ(net.PortOf("h1", 1).PKeyAt(0), 0xffff);

  const Node& sw1 =
      net.subnet().NodeOf(net.subnet().id_of(net.PortOf("sw1", 0)));
  EXPECT_EQ(sw1.sw->info.linear_fdb_top, 4);
  EXPECT_FALSE(sw1.sw->info.port_state_change);
}

TEST(StaticSmLidTest, LeavesAloneWhatIsDown) {
  Net net(Generated("single-switch:hosts=3"));
  ASSERT_TRUE(net.fabric.SetLink(*net.fabric.Find("node-2"), 1, false).ok());
  ASSERT_TRUE(ConfigureStatically(net.fabric).ok());
  EXPECT_EQ(net.LidOf("node-2"), Lid::kUnassigned);
  EXPECT_EQ(net.PortOf("node-2", 1).info.port_state, PortState::kDown);
  EXPECT_EQ(net.LidOf("node-3"), Lid{2});
}

TEST(StaticSmLidTest, ConfiguresIslandsEachForItself) {
  Net net(*topology::ParseTopology(R"(
Ca 1 "a"
[1] "left"[1]

Switch 2 "left"
[1] "a"[1]

Ca 1 "b"
[1] "right"[1]

Switch 2 "right"
[1] "b"[1]
)",
                                   "lab.net"));
  ASSERT_TRUE(ConfigureStatically(net.fabric).ok());
  const PortId a = net.subnet().id_of(net.PortOf("a", 1));
  EXPECT_EQ(Follow(net.subnet(), a, net.LidOf("left", 0)).end,
            net.subnet().id_of(net.PortOf("left", 0)));
  EXPECT_EQ(Follow(net.subnet(), a, net.LidOf("b")).end, kNoPort);
}

TEST(StaticSmLidTest, SaysHowManyLidsAreMissing) {
  Net net(Generated("fat-tree:radix=64,levels=3"));
  const absl::Status status = ConfigureStatically(net.fabric);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "the topology needs 70656 LIDs, a subnet has 49151");
  EXPECT_EQ(net.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(net.PortOf("node-1", 1).info.port_state, PortState::kInit);
}

class Listener : public mad::DeviceListener {
 public:
  void OnPortEvent(int) override { ++events; }
  void OnRemoved() override {}
  int events = 0;
};

// A small fat tree, of which something goes and comes back.
class StaticReturnTest : public ::testing::Test {
 protected:
  StaticReturnTest() {
    EXPECT_TRUE(ConfigureStatically(net_.fabric).ok());
    before_ = Everything();
  }

  // States, LIDs and where each LID leads from each switch.
  std::vector<int> Everything() {
    std::vector<int> all;
    const Subnet& subnet = net_.subnet();
    for (const NodePort& port : subnet.ports()) {
      all.push_back(static_cast<int>(port.info.port_state));
      all.push_back(static_cast<int>(port.info.lid));
      all.push_back(port.info.neighbor_mtu * 256 + port.info.operational_vls);
    }
    for (const Node& node : subnet.nodes()) {
      if (!node.is_switch()) continue;
      all.push_back(node.sw->info.linear_fdb_top);
      for (int lid = 0; lid < 64; ++lid) {
        all.push_back(node.sw->linear.Lookup(Lid(lid)));
      }
    }
    return all;
  }
  topology::NodeId Find(std::string_view node) {
    return *net_.fabric.Find(node);
  }

  Net net_{Generated("fat-tree:radix=4,levels=2")};
  std::vector<int> before_;
};

TEST_F(StaticReturnTest, ALinkThatIsRestoredCarriesDataAgain) {
  ASSERT_TRUE(net_.fabric.SetLink(Find("leaf-1"), 3, false).ok());
  EXPECT_NE(Everything(), before_);
  ASSERT_TRUE(net_.fabric.SetLink(Find("leaf-1"), 3, true).ok());
  EXPECT_EQ(Everything(), before_);
}

TEST_F(StaticReturnTest, ANodeThatIsSwitchedOnIsAsBefore) {
  for (const char* node : {"node-1", "leaf-1", "spine-1"}) {
    net_.fabric.SetNode(Find(node), false);
    EXPECT_NE(Everything(), before_) << node;
    net_.fabric.SetNode(Find(node), true);
    EXPECT_EQ(Everything(), before_) << node;
  }
}

TEST_F(StaticReturnTest, ADeviceThatIsPluggedInIsAsBefore) {
  for (const char* node : {"node-1", "leaf-1"}) {
    ASSERT_TRUE(net_.fabric.RemoveDevice(Find(node)).ok());
    net_.fabric.SetNode(Find(node), true);  // has power, is still out
    EXPECT_NE(Everything(), before_) << node;
    ASSERT_TRUE(net_.fabric.AddDevice(Find(node)).ok());
    EXPECT_EQ(Everything(), before_) << node;
  }
}

TEST_F(StaticReturnTest, WhatWasNotAwayIsLeftAlone) {
  const PortId port = net_.subnet().id_of(net_.PortOf("node-1", 1));
  net_.fabric.links().SetLogicalState(port, PortState::kDown);  // a reset
  net_.subnet().port(port).info.lid = Lid{30};
  net_.fabric.SetNode(Find("node-1"), true);
  EXPECT_TRUE(net_.fabric.SetLink(Find("node-1"), 1, true).ok());
  EXPECT_EQ(net_.LidOf("node-1"), Lid{30});
  EXPECT_EQ(net_.PortOf("node-1", 1).info.port_state, PortState::kInit);
}

TEST_F(StaticReturnTest, TheHostHearsThatItsPortIsActive) {
  Listener listener;
  net_.fabric.device(Find("node-1")).SetListener(&listener);
  ASSERT_TRUE(net_.fabric.SetLink(Find("node-1"), 1, false).ok());
  net_.timers.RunPending();
  const int heard = listener.events;
  ASSERT_TRUE(net_.fabric.SetLink(Find("node-1"), 1, true).ok());
  net_.timers.RunPending();
  EXPECT_EQ(listener.events, heard + 1);
}

TEST_F(StaticReturnTest, WhatASubnetManagerHasTakenOverIsLeftToIt) {
  Subnet& subnet = net_.subnet();
  for (NodePort& port : subnet.ports()) {
    if (subnet.management_port(subnet.id_of(port)) != subnet.id_of(port)) {
      continue;
    }
    port.info.master_sm_lid = Lid{1};
  }
  net_.fabric.SetNode(Find("node-1"), false);
  net_.fabric.SetNode(Find("node-1"), true);
  EXPECT_EQ(net_.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(net_.PortOf("node-1", 1).info.port_state, PortState::kInit);
  ASSERT_TRUE(net_.fabric.SetLink(Find("node-2"), 1, false).ok());
  ASSERT_TRUE(net_.fabric.SetLink(Find("node-2"), 1, true).ok());
  EXPECT_EQ(net_.PortOf("node-2", 1).info.port_state, PortState::kInit);
}

TEST(StaticSmLidTest, WithoutItWhatComesBackWaitsForAManager) {
  Net net(Generated("single-switch:hosts=2"));
  ASSERT_TRUE(net.fabric.RemoveDevice(*net.fabric.Find("node-1")).ok());
  ASSERT_TRUE(net.fabric.AddDevice(*net.fabric.Find("node-1")).ok());
  EXPECT_EQ(net.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(net.PortOf("node-1", 1).info.port_state, PortState::kInit);
}

// All hosts talk to all others: how many paths cross each cable between
// switches, in each direction?
std::pair<int, int> FewestAndMostPaths(Net& net) {
  const Subnet& subnet = net.subnet();
  std::map<PortId, int> paths;
  for (const NodePort& port : subnet.ports()) {
    if (port.peer == kNoPort || !subnet.node(port.node).is_switch() ||
        !subnet.NodeOf(port.peer).is_switch()) {
      continue;
    }
    paths[subnet.id_of(port)] = 0;
  }
  const std::vector<PortId> ends = EndPorts(subnet);
  for (const PortId from : ends) {
    for (const PortId to : ends) {
      if (subnet.NodeOf(from).is_switch() || subnet.NodeOf(to).is_switch() ||
          from == to) {
        continue;
      }
      for (PortId sender :
           Follow(subnet, from, subnet.port(to).info.lid).senders) {
        const auto found = paths.find(sender);
        if (found != paths.end()) ++found->second;
      }
    }
  }
  const auto [fewest, most] = std::ranges::minmax_element(
      paths, {}, [](const auto& entry) { return entry.second; });
  return {fewest->second, most->second};
}

TEST(StaticSmBalanceTest, SpreadsAFullFatTreesPathsEvenly) {
  Net two(Generated("fat-tree:radix=8,levels=2"));
  ASSERT_TRUE(ConfigureStatically(two.fabric).ok());
  // 4 hosts of a leaf talk to the 28 of other leaves, over 4 uplinks.
  EXPECT_EQ(FewestAndMostPaths(two), std::pair(28, 28));

  Net three(Generated("fat-tree:radix=6,levels=3"));
  ASSERT_TRUE(ConfigureStatically(three.fabric).ok());
  const auto [fewest, most] = FewestAndMostPaths(three);
  EXPECT_GT(fewest, 0);
  EXPECT_LE(most, fewest * 5 / 4);
}

TEST(StaticSmBalanceTest, UsesParallelCablesAlike) {
  Net net(Generated("fat-tree:radix=8,levels=2,hosts=16"));
  ASSERT_TRUE(ConfigureStatically(net.fabric).ok());
  const auto [fewest, most] = FewestAndMostPaths(net);
  EXPECT_GT(fewest, 0);
  EXPECT_LE(most, 2 * fewest);
}

}  // namespace
}  // namespace ibemu::fabric
