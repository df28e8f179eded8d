#include "topology/generators.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "gtest/gtest.h"

namespace ibemu::topology {
namespace {

Topology Generate(std::string_view spec) {
  absl::StatusOr<Topology> topology = GenerateTopology(spec);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return topology.ok() ? *std::move(topology) : Topology();
}

size_t Count(const Topology& topology, mad::NodeType type) {
  return static_cast<size_t>(
      std::ranges::count(topology.nodes, type, &NodeSpec::type));
}
size_t Hosts(const Topology& topology) {
  return Count(topology, mad::NodeType::kChannelAdapter);
}
size_t Switches(const Topology& topology) {
  return Count(topology, mad::NodeType::kSwitch);
}

const NodeSpec& Named(const Topology& topology, std::string_view description) {
  const auto found =
      std::ranges::find(topology.nodes, description, &NodeSpec::description);
  EXPECT_NE(found, topology.nodes.end()) << description;
  return *found;
}

// "switch-0-1[1]" of "switch-0-0[2]".
std::map<std::string, std::string> Cables(const Topology& topology) {
  std::map<std::string, std::string> cables;
  const auto end = [&](NodeId id, int port) {
    return topology.node(id).description + "[" + std::to_string(port) + "]";
  };
  for (const LinkSpec& link : topology.links) {
    cables[end(link.a, link.port_a)] = end(link.b, link.port_b);
    cables[end(link.b, link.port_b)] = end(link.a, link.port_a);
  }
  return cables;
}

class GeneratorTest : public ::testing::TestWithParam<const char*> {};

TEST_P(GeneratorTest, MakesOneConnectedSubnetWithoutContradictions) {
  const Topology topology = Generate(GetParam());

  std::set<wire::Guid> guids;
  std::set<std::string> descriptions;
  for (const NodeSpec& node : topology.nodes) {
    EXPECT_TRUE(guids.insert(node.node_guid).second) << node.name;
    EXPECT_TRUE(descriptions.insert(node.description).second) << node.name;
    EXPECT_EQ(node.port_guids.size(), 1u);
    EXPECT_LE(node.port_count, kMaxPorts);
  }

  std::set<std::pair<NodeId, int>> used;
  std::vector<uint32_t> group(topology.nodes.size());
  for (uint32_t i = 0; i < group.size(); ++i) group[i] = i;
  const auto root = [&](NodeId id) {
    auto i = static_cast<uint32_t>(id);
    while (group[i] != i) i = group[i] = group[group[i]];
    return i;
  };
  for (const LinkSpec& link : topology.links) {
    for (const auto& [id, port] :
         {std::pair(link.a, link.port_a), std::pair(link.b, link.port_b)}) {
      EXPECT_GE(port, 1);
      EXPECT_LE(port, topology.node(id).port_count);
      EXPECT_TRUE(used.insert({id, port}).second)
          << topology.node(id).description << " port " << int{port};
    }
    group[root(link.a)] = root(link.b);
  }
  for (uint32_t i = 0; i < group.size(); ++i) {
    EXPECT_EQ(root(NodeId{i}), root(NodeId{0}))
        << topology.nodes[i].description;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, GeneratorTest,
    ::testing::Values(
        "back-to-back", "single-switch:hosts=254", "fat-tree:radix=2,levels=2",
        "fat-tree:radix=2,levels=3", "fat-tree:radix=8,levels=2,hosts=1",
        "fat-tree:radix=8,levels=2,hosts=11", "fat-tree:radix=36,levels=2",
        "fat-tree:radix=8,levels=3,hosts=37", "fat-tree:radix=12,levels=3",
        "torus:5", "torus:2x2", "torus:3x4,hosts=3", "torus:2x3x4",
        "torus:4x4x4", "dragonfly", "dragonfly:a=1,h=1,p=1",
        "dragonfly:a=4,h=2,p=3,g=4", "dragonfly:a=6,h=3,g=2"));

TEST(FatTreeTest, HasTheWellKnownNumbers) {
  const Topology two = Generate("fat-tree:radix=36,levels=2");
  EXPECT_EQ(Hosts(two), 648u);
  EXPECT_EQ(Switches(two), 54u);
  EXPECT_EQ(two.links.size(), 648u * 2);

  const Topology three = Generate("fat-tree:radix=36,levels=3");
  EXPECT_EQ(Hosts(three), 11664u);
  EXPECT_EQ(Switches(three), 1620u);
  EXPECT_EQ(three.links.size(), 11664u * 3);

  const Topology large = Generate("fat-tree:radix=64,levels=3");
  EXPECT_EQ(Hosts(large), 65536u);
  EXPECT_EQ(Switches(large), 5120u);
}

TEST(FatTreeTest, ShrinksToTheHostsAskedForAndKeepsItsUplinks) {
  EXPECT_EQ(Switches(Generate("fat-tree:radix=36,levels=3,hosts=1296")), 180u);
  EXPECT_EQ(Switches(Generate("fat-tree:radix=36,levels=3,hosts=3888")), 540u);
  EXPECT_EQ(Switches(Generate("fat-tree:radix=64,levels=3,hosts=43008")),
            3360u);

  const Topology small = Generate("fat-tree:radix=8,levels=2,hosts=7");
  EXPECT_EQ(Hosts(small), 7u);
  EXPECT_EQ(Switches(small), 3u);  // two leaves, one spine
  EXPECT_EQ(small.links.size(), 7u + 8u);
}

TEST(FatTreeTest, NumbersNodesAndPortsAsPeopleWould) {
  const auto two = Cables(Generate("fat-tree:radix=4,levels=2"));
  EXPECT_EQ(two.at("node-1[1]"), "leaf-1[1]");
  EXPECT_EQ(two.at("node-4[1]"), "leaf-2[2]");
  EXPECT_EQ(two.at("leaf-3[3]"), "spine-1[3]");
  EXPECT_EQ(two.at("leaf-3[4]"), "spine-2[3]");

  const auto three = Cables(Generate("fat-tree:radix=4,levels=3"));
  EXPECT_EQ(three.at("pod-2-leaf-1[4]"), "pod-2-spine-2[1]");
  EXPECT_EQ(three.at("pod-2-spine-2[3]"), "core-3[2]");
}

TEST(TorusTest, UsesOnePortForEachDirection) {
  const auto cables = Cables(Generate("torus:3x4,hosts=2"));
  EXPECT_EQ(cables.at("switch-0-0[1]"), "switch-1-0[2]");
  EXPECT_EQ(cables.at("switch-2-0[1]"), "switch-0-0[2]");
  EXPECT_EQ(cables.at("switch-1-1[3]"), "switch-1-2[4]");
  EXPECT_EQ(cables.at("switch-1-3[3]"), "switch-1-0[4]");
  EXPECT_EQ(cables.at("node-3[1]"), "switch-0-1[5]");
  EXPECT_EQ(cables.at("node-4[1]"), "switch-0-1[6]");
}

TEST(TorusTest, GivesTwoSwitchesInADimensionOneCable) {
  const Topology topology = Generate("torus:2x2");
  EXPECT_EQ(topology.links.size(), 4u + 4u);
}

TEST(DragonflyTest, IsBalancedByDefault) {
  const Topology topology = Generate("dragonfly:a=4");
  EXPECT_EQ(Switches(topology), 36u);  // 4 * 2 + 1 groups
  EXPECT_EQ(Hosts(topology), 72u);
  // Every port is in use.
  EXPECT_EQ(topology.links.size(), (36u * 7 + 72) / 2);
}

TEST(DragonflyTest, ConnectsEachPairOfGroupsEquallyOften) {
  const Topology topology = Generate("dragonfly:a=4,h=2,p=1,g=5");
  std::map<std::pair<char, char>, int> cables;
  for (const LinkSpec& link : topology.links) {
    const std::string& a = topology.node(link.a).description;
    const std::string& b = topology.node(link.b).description;
    if (!a.starts_with("group-") || a[6] == b[6]) continue;
    ++cables[{a[6], b[6]}];
  }
  EXPECT_EQ(cables.size(), 10u);
  for (const auto& [pair, count] : cables) EXPECT_EQ(count, 2);
}

TEST(GeneratorTest, GivesTheSameGuidsEachTime) {
  const Topology topology = Generate("single-switch:hosts=3");
  EXPECT_EQ(Named(topology, "node-3").node_guid,
            wire::Guid{0x021be001'00000300});
  EXPECT_EQ(Named(topology, "node-3").port_guids[0],
            wire::Guid{0x021be001'00000301});
  EXPECT_EQ(Named(topology, "node-3").name, "H-021be00100000300");
  EXPECT_EQ(Named(topology, "switch-1").port_guids[0],
            wire::Guid{0x021be002'00000100});
}

TEST(GeneratorTest, TakesSpeedAndWidth) {
  const LinkRate hdr = Generate("back-to-back").links[0].rate;
  EXPECT_EQ(hdr.width, 1 | 2);
  EXPECT_EQ(hdr.speed_ext, 1 | 2 | 4);

  const LinkRate xdr =
      Generate("back-to-back:speed=XDR,width=2x").links[0].rate;
  EXPECT_EQ(xdr.width, 1 | 16);
  EXPECT_EQ(xdr.speed, 7);
  EXPECT_EQ(xdr.speed_ext2, 1);

  const LinkRate sdr = Generate("torus:3,speed=sdr").links[0].rate;
  EXPECT_EQ(sdr.speed, 1);
  EXPECT_EQ(sdr.speed_ext, 0);
}

TEST(GeneratorTest, TellsHowFarItHasCome) {
  size_t calls = 0, last = 0, total = 0;
  ASSERT_TRUE(
      GenerateTopology("fat-tree:radix=36,levels=3", [&](std::string_view phase,
                                                         size_t done,
                                                         size_t all) {
        EXPECT_EQ(phase, "generating");
        EXPECT_GT(done, last);
        last = done;
        total = all;
        ++calls;
      }).ok());
  EXPECT_EQ(total, 11664u + 1620 + 3 * 11664);
  EXPECT_LE(last, total);
  EXPECT_GE(calls, 10u);
  EXPECT_LE(calls, 1000u);
}

}  // namespace
}  // namespace ibemu::topology
