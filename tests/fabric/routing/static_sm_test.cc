#include "fabric/routing/static_sm.h"

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/lab.h"
#include "tests/fabric/routes.h"

namespace ibemu::fabric {
namespace {

using testing::Lab;
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
  Lab lab(GetParam());
  ASSERT_TRUE(ConfigureStatically(lab.fabric).ok());
  const Subnet& subnet = lab.subnet();

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
  Lab lab(GetParam());
  ASSERT_TRUE(ConfigureStatically(lab.fabric).ok());
  for (const NodePort& port : lab.subnet().ports()) {
    const bool has_link = port.peer != kNoPort || port.number == 0;
    EXPECT_EQ(port.info.port_state,
              has_link ? PortState::kActive : PortState::kDown)
        << lab.subnet().PortName(lab.subnet().id_of(port));
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
  Lab lab(R"(
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
)");
  ASSERT_TRUE(ConfigureStatically(lab.fabric).ok());
  EXPECT_EQ(lab.LidOf("h2", 2), Lid{1});
  EXPECT_EQ(lab.LidOf("h2", 1), Lid::kUnassigned);  // no cable
  EXPECT_EQ(lab.LidOf("h1"), Lid{2});
  EXPECT_EQ(lab.LidOf("sw1", 0), Lid{3});
  EXPECT_EQ(lab.LidOf("sw2", 0), Lid{4});
  EXPECT_EQ(lab.PortOf("h1", 1).info.lmc, 0);
  EXPECT_EQ(lab.PortOf("h1", 1).info.master_sm_lid, Lid::kUnassigned);
  EXPECT_EQ(lab.PortOf("h1", 1).PKeyAt(0), 0xffff);

  const Node& sw1 =
      lab.subnet().NodeOf(lab.subnet().id_of(lab.PortOf("sw1", 0)));
  EXPECT_EQ(sw1.sw->info.linear_fdb_top, 4);
  EXPECT_FALSE(sw1.sw->info.port_state_change);
}

TEST(StaticSmLidTest, LeavesAloneWhatIsDown) {
  Lab lab("single-switch:hosts=3");
  lab.SetLink(lab.Find("node-2"), 1, false);
  ASSERT_TRUE(ConfigureStatically(lab.fabric).ok());
  EXPECT_EQ(lab.LidOf("node-2"), Lid::kUnassigned);
  EXPECT_EQ(lab.PortOf("node-2", 1).info.port_state, PortState::kDown);
  EXPECT_EQ(lab.LidOf("node-3"), Lid{2});
}

TEST(StaticSmLidTest, ConfiguresIslandsEachForItself) {
  Lab lab(kTwoIslands);
  ASSERT_TRUE(ConfigureStatically(lab.fabric).ok());
  const PortId a = lab.subnet().id_of(lab.PortOf("a", 1));
  EXPECT_EQ(Follow(lab.subnet(), a, lab.LidOf("left", 0)).end,
            lab.subnet().id_of(lab.PortOf("left", 0)));
  EXPECT_EQ(Follow(lab.subnet(), a, lab.LidOf("b")).end, kNoPort);
}

TEST(StaticSmLidTest, SaysHowManyLidsAreMissing) {
  Lab lab("fat-tree:radix=64,levels=3");
  const absl::Status status = ConfigureStatically(lab.fabric);
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_EQ(status.message(),
            "the topology needs 70656 LIDs, a subnet has 49151");
  EXPECT_EQ(lab.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(lab.PortOf("node-1", 1).info.port_state, PortState::kInit);
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
    EXPECT_TRUE(ConfigureStatically(lab_.fabric).ok());
    before_ = Everything();
  }

  // States, LIDs and where each LID leads from each switch.
  std::vector<int> Everything() {
    std::vector<int> all;
    const Subnet& subnet = lab_.subnet();
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
    return *lab_.fabric.Find(node);
  }

  Lab lab_{"fat-tree:radix=4,levels=2"};
  std::vector<int> before_;
};

TEST_F(StaticReturnTest, ALinkThatIsRestoredCarriesDataAgain) {
  lab_.SetLink(Find("leaf-1"), 3, false);
  EXPECT_NE(Everything(), before_);
  lab_.SetLink(Find("leaf-1"), 3, true);
  EXPECT_EQ(Everything(), before_);
}

TEST_F(StaticReturnTest, ANodeThatIsSwitchedOnIsAsBefore) {
  for (const char* node : {"node-1", "leaf-1", "spine-1"}) {
    lab_.fabric.SetNode(Find(node), false);
    EXPECT_NE(Everything(), before_) << node;
    lab_.fabric.SetNode(Find(node), true);
    EXPECT_EQ(Everything(), before_) << node;
  }
}

TEST_F(StaticReturnTest, ADeviceThatIsPluggedInIsAsBefore) {
  for (const char* node : {"node-1", "leaf-1"}) {
    ASSERT_TRUE(lab_.fabric.RemoveDevice(Find(node)).ok());
    lab_.fabric.SetNode(Find(node), true);  // has power, is still out
    EXPECT_NE(Everything(), before_) << node;
    ASSERT_TRUE(lab_.fabric.AddDevice(Find(node)).ok());
    EXPECT_EQ(Everything(), before_) << node;
  }
}

TEST_F(StaticReturnTest, WhatWasNotAwayIsLeftAlone) {
  const PortId port = lab_.subnet().id_of(lab_.PortOf("node-1", 1));
  lab_.fabric.links().SetLogicalState(port, PortState::kDown);  // a reset
  lab_.subnet().port(port).info.lid = Lid{30};
  lab_.fabric.SetNode(Find("node-1"), true);
  lab_.SetLink(Find("node-1"), 1, true);
  EXPECT_EQ(lab_.LidOf("node-1"), Lid{30});
  EXPECT_EQ(lab_.PortOf("node-1", 1).info.port_state, PortState::kInit);
}

TEST_F(StaticReturnTest, TheHostHearsThatItsPortIsActive) {
  Listener listener;
  lab_.fabric.device(Find("node-1")).SetListener(&listener);
  lab_.SetLink(Find("node-1"), 1, false);
  lab_.timers.RunPending();
  const int heard = listener.events;
  lab_.SetLink(Find("node-1"), 1, true);
  lab_.timers.RunPending();
  EXPECT_EQ(listener.events, heard + 1);
}

TEST_F(StaticReturnTest, WhatASubnetManagerHasTakenOverIsLeftToIt) {
  Subnet& subnet = lab_.subnet();
  for (NodePort& port : subnet.ports()) {
    if (subnet.management_port(subnet.id_of(port)) != subnet.id_of(port)) {
      continue;
    }
    port.info.master_sm_lid = Lid{1};
  }
  lab_.fabric.SetNode(Find("node-1"), false);
  lab_.fabric.SetNode(Find("node-1"), true);
  EXPECT_EQ(lab_.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(lab_.PortOf("node-1", 1).info.port_state, PortState::kInit);
  lab_.SetLink(Find("node-2"), 1, false);
  lab_.SetLink(Find("node-2"), 1, true);
  EXPECT_EQ(lab_.PortOf("node-2", 1).info.port_state, PortState::kInit);
}

TEST(StaticSmLidTest, WithoutItWhatComesBackWaitsForAManager) {
  Lab lab("single-switch:hosts=2");
  ASSERT_TRUE(lab.fabric.RemoveDevice(lab.Find("node-1")).ok());
  ASSERT_TRUE(lab.fabric.AddDevice(lab.Find("node-1")).ok());
  EXPECT_EQ(lab.LidOf("node-1"), Lid::kUnassigned);
  EXPECT_EQ(lab.PortOf("node-1", 1).info.port_state, PortState::kInit);
}

// All hosts talk to all others: how many paths cross each cable between
// switches, in each direction?
std::pair<int, int> FewestAndMostPaths(Lab& lab) {
  const Subnet& subnet = lab.subnet();
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
  Lab two("fat-tree:radix=8,levels=2");
  ASSERT_TRUE(ConfigureStatically(two.fabric).ok());
  // 4 hosts of a leaf talk to the 28 of other leaves, over 4 uplinks.
  EXPECT_EQ(FewestAndMostPaths(two), std::pair(28, 28));

  Lab three("fat-tree:radix=6,levels=3");
  ASSERT_TRUE(ConfigureStatically(three.fabric).ok());
  const auto [fewest, most] = FewestAndMostPaths(three);
  EXPECT_GT(fewest, 0);
  EXPECT_LE(most, fewest * 5 / 4);
}

TEST(StaticSmBalanceTest, UsesParallelCablesAlike) {
  Lab lab("fat-tree:radix=8,levels=2,hosts=16");
  ASSERT_TRUE(ConfigureStatically(lab.fabric).ok());
  const auto [fewest, most] = FewestAndMostPaths(lab);
  EXPECT_GT(fewest, 0);
  EXPECT_LE(most, 2 * fewest);
}

}  // namespace
}  // namespace ibemu::fabric
