// Labs of containerlab: what becomes of nodes, links and interfaces.
#include "topology/formats/containerlab_reader.h"

#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "topology/formats/load_topology.h"

namespace ibemu::topology {
namespace {

using mad::NodeType;

absl::StatusOr<Topology> Clab(std::string_view text) {
  return ParseContainerlab(text, "a.clab.yml");
}

std::string Refusal(std::string_view text) {
  return std::string(Clab(text).status().message());
}

TEST(ContainerlabReaderTest, LinuxNodesAreAdaptersAndOthersAreSwitches) {
  const auto topology = Clab(R"(
name: fabric
mgmt: {network: clab}
topology:
  kinds: {nokia_srlinux: {image: srlinux}}
  nodes:
    leaf1: {kind: nokia_srlinux, type: ixrd2l}
    host1: {kind: linux, image: alpine, exec: [ip link]}
    host2:
      kind: linux
  links:
    - endpoints: ["leaf1:e1-1", "host1:eth1"]
    - endpoints: [leaf1:e1-12, host2:eth1]
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->nodes.size(), 3);
  EXPECT_EQ(topology->nodes[0].description, "leaf1");
  EXPECT_EQ(topology->nodes[0].type, NodeType::kSwitch);
  EXPECT_EQ(topology->nodes[0].port_count, 12);
  EXPECT_EQ(topology->nodes[1].type, NodeType::kChannelAdapter);
  EXPECT_EQ(topology->nodes[1].port_count, 1);
  ASSERT_EQ(topology->links.size(), 2);
  EXPECT_EQ(topology->links[1].port_a, 12);
  EXPECT_EQ(topology->links[1].port_b, 1);
}

TEST(ContainerlabReaderTest, KindsAndLabelsComeFromGroupsKindsAndDefaultsToo) {
  const auto topology = Clab(R"(
topology:
  defaults: {kind: linux}
  kinds: {bridge: {labels: {ibemu.type: router}}}
  groups:
    spines: {kind: arista_ceos}
    others: {image: x}
    edges: {kind: bridge}
  nodes:
    a: {group: spines}
    b: {group: others}
    c:
    d: {labels: {ibemu.type: switch, else: x}}
    e: {group: edges}
  links:
    - endpoints: [b:eth1, a:eth1]
    - endpoints: [d:eth1, a:eth2]
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  const NodeType kinds[] = {NodeType::kSwitch, NodeType::kChannelAdapter,
                            NodeType::kChannelAdapter, NodeType::kSwitch,
                            NodeType::kRouter};
  for (size_t i = 0; i < 5; ++i) {
    EXPECT_EQ(topology->nodes[i].type, kinds[i]) << topology->nodes[i].name;
  }
}

TEST(ContainerlabReaderTest, InterfacesThatAreNoPortsAreNumberedByTheirOrder) {
  const auto topology = Clab(R"(
topology:
  nodes:
    sonic: {kind: sonic-vs}
    cards: {kind: nokia_sros}
  links:
    - endpoints: [sonic:Ethernet4, cards:1/1/1]
    - endpoints: [sonic:Ethernet0, cards:2/1/1]
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes[0].port_count, 2);
  EXPECT_EQ(topology->links[0].port_a, 1);
  EXPECT_EQ(topology->links[1].port_a, 2);
  EXPECT_EQ(topology->links[1].port_b, 2);
}

TEST(ContainerlabReaderTest, LinksThatLeaveTheLabAreLeftOut) {
  const auto topology = Clab(R"(
topology:
  nodes: {a: {kind: bridge}, b: {kind: linux}}
  links:
    - endpoints: [a:eth1, host:veth1]
    - endpoints: [a:eth2, "mgmt-net:port"]
    - type: macvlan
      endpoint: {node: a, interface: eth3}
      host-interface: enp0s1
    - type: veth
      endpoints:
        - {node: a, interface: eth4}
        - {node: b, interface: eth1}
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->links.size(), 1);
  EXPECT_EQ(topology->links[0].port_a, 4);
}

TEST(ContainerlabReaderTest, FaultsHaveTheirPlace) {
  EXPECT_EQ(Refusal("nodes: {}"),
            "a.clab.yml:1: a lab of containerlab is a map whose key topology "
            "is a map with nodes and links");
  EXPECT_EQ(Refusal("topology:\n  nodes: [a]"),
            "a.clab.yml:2: nodes is a map of names to nodes");
  EXPECT_EQ(Refusal(R"(topology:
  nodes:
    leaf1: {kind: bridge, labels: {ibemu.type: hub}}
    host1: linux
  links:
    - endpoints: [leaf1:e1-1]
    - endpoints: [leaf1, host1:eth1]
    - endpoints: [leaf1:e1-2, hots1:eth1]
    - endpoints: [leaf1:e1-3, host1:eth2]
    - endpoints: [host1:eth3, leaf1:e1-3]
    - leaf1
)"),
            R"(a.clab.yml:3: ibemu.type: "hub": it is one of ca, switch, router
a.clab.yml:4: host1: "linux": a node is a map, as in {kind: linux}
a.clab.yml:6: a link has two endpoints: - endpoints: ["leaf1:e1-1", "host1:eth1"]
a.clab.yml:7: an endpoint is a node and its interface, as in "leaf1:e1-1": "leaf1"
a.clab.yml:8: there is no node "hots1": did you mean "host1"?
a.clab.yml:10: interface e1-3 of "leaf1" has a link already: it can have one
a.clab.yml:11: an item of links is a map: - endpoints: ["leaf1:e1-1", "host1:eth1"])");
}

TEST(ContainerlabReaderTest, MoreLinksThanPortsAreRefused) {
  std::string text = "topology:\n  nodes: {hub: {kind: bridge}}\n  links:\n";
  for (int i = 0; i <= 127; ++i) {
    absl::StrAppend(&text, "    - endpoints: [hub:a", i, ", hub:b", i, "]\n");
  }
  EXPECT_THAT(Refusal(text),
              ::testing::HasSubstr("\"hub\" has more links than a node has "
                                   "ports: it can have 254"));
}

TEST(ContainerlabReaderTest, TheNameOfAFileTells) {
  const auto topology =
      ParseTopology("topology: {nodes: {a: {kind: linux}}}", "b.clab.yml");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes[0].name, "a");
}

}  // namespace
}  // namespace ibemu::topology
