// Specs in YAML, and in JSON.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/topology/formats/format_matchers.h"
#include "topology/formats/formats.h"
#include "topology/generators.h"

namespace ibemu::topology {
namespace {

using ::testing::Contains;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;

absl::StatusOr<Topology> Spec(std::string_view text) {
  return ParseSpec(text, "a.yaml");
}

TEST(SpecReaderTest, NodesAndLinksOfItsOwn) {
  const auto topology = Spec(R"(
nodes:
  - {name: sw1, type: switch, ports: 36, guid: 0x200, description: leaf}
  - name: h1
    port_guids: [0x111]
  - {name: sw2, type: switch}
links:
  - {a: sw1/3, b: h1/1, rate: 2xNDR, length: 5}
  - {a: sw1/4, b: sw2/7, speed: EDR, down: true}
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(NodesOf(*topology),
              ElementsAre("sw1: switch 36", "h1: ca 1", "sw2: switch 7"));
  EXPECT_THAT(LinksOf(*topology),
              ElementsAre("sw1/3 - h1/1 2xNDR", "sw1/4 - sw2/7 4xEDR down"));
  EXPECT_EQ(topology->nodes[0].node_guid, wire::Guid{0x200});
  EXPECT_EQ(topology->nodes[0].description, "leaf");
  EXPECT_EQ(topology->nodes[1].port_guids[0], wire::Guid{0x111});
  EXPECT_EQ(topology->links[0].length, 5);
}

TEST(SpecReaderTest, MoreThanAGeneratorMakes) {
  const auto topology = Spec(R"(
generator: single-switch:hosts=2,ports=4
hosts: compute-%03d
nodes:
  - {name: storage}
links:
  - {a: switch-1/4, b: storage/1}
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  ASSERT_EQ(topology->nodes.size(), 4u);
  EXPECT_EQ(topology->nodes[0].description, "compute-001");
  EXPECT_EQ(topology->nodes[1].description, "compute-002");
  EXPECT_EQ(topology->nodes[2].description, "switch-1");
  EXPECT_EQ(topology->nodes[3].description, "storage");
  EXPECT_EQ(topology->links.size(), 3u);
}

TEST(SpecReaderTest, ProfilesAreForNodesWhoseNamesMatch) {
  const auto topology = Spec(R"(
generator: single-switch:hosts=3
profiles:
  every:
    match: "*"
    vendor_id: 0x2c9
  cx7:
    match: [node-1, "node-3*"]
    type: ca
    ports: 2
    speed: NDR
    device_id: 0x1021
    firmware: 28.39.1002
  hub: {type: switch, match: "*", speed: NDR}
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes[0].port_count, 2);
  EXPECT_EQ(topology->nodes[1].port_count, 1);
  EXPECT_EQ(topology->nodes[0].device_id, 0x1021);
  EXPECT_EQ(topology->nodes[0].label->firmware, "28.39.1002");
  EXPECT_EQ(topology->nodes[1].label, nullptr);
  for (const NodeSpec& node : topology->nodes) {
    EXPECT_EQ(node.vendor_id, 0x2c9u);
  }
  // Nothing is known of node-2's port: the other end decides.
  EXPECT_THAT(LinksOf(*topology), Each(EndsWith("4xNDR")));
}

TEST(SpecReaderTest, ANodeMayNameItsProfile) {
  const auto topology = Spec(R"(
profiles: {big: {ports: 64, width: 2x}}
nodes: [{name: sw, type: switch, profile: big}, {name: h}]
links: [{a: sw/1, b: h/1}]
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes[0].port_count, 64);
  EXPECT_THAT(LinksOf(*topology), ElementsAre("sw/1 - h/1 2xHDR"));
}

TEST(SpecReaderTest, RulesForLinksComeLast) {
  const auto topology = Spec(R"(
generator: fat-tree:radix=4,levels=2
links:
  - {match: "spine-*/1", width: 1x, speed: SDR}
  - {match: "node-2/*", down: true}
)");
  ASSERT_TRUE(topology.ok()) << topology.status();
  int slow = 0;
  int down = 0;
  for (const std::string& link : LinksOf(*topology)) {
    slow += link.ends_with("1xSDR") ? 1 : 0;
    down += link.ends_with(" down") ? 1 : 0;
  }
  EXPECT_EQ(slow, 2);  // two spines
  EXPECT_EQ(down, 1);
}

TEST(SpecReaderTest, FaultsNamePlaceThingAndRule) {
  EXPECT_THAT(FaultsOf(Spec("generator: fat-tre\n")),
              ElementsAre("a.yaml:1: no generator is named \"fat-tre\": did "
                          "you mean \"fat-tree\"?"));
  EXPECT_THAT(
      FaultsOf(Spec("generater: x\nnodes:\n"
                    "  - {name: a, prots: 3, type: swich, ports: 0}\n"
                    "  - {nmae: b}\n  - c\n"
                    "links:\n  - {a: a/1, b: c/1, spede: EDR}\n"
                    "  - {a: a}\n  - {a: a/x, b: a/2, speed: FAST}\n"
                    "  - {match: \"z/*\"}\n")),
      ElementsAre(
          HasSubstr("a.yaml:1: a spec has no key \"generater\" but generator, "
                    "include, hosts, profiles, nodes, links: did you mean "
                    "\"generator\"?"),
          "a.yaml:3: type: \"swich\": it is one of ca, switch, router",
          "a.yaml:3: ports: \"0\": it is a number from 1 to 254",
          HasSubstr("a.yaml:3: node a has no key \"prots\" but name,"),
          "a.yaml:4: a node has a name",
          HasSubstr("a.yaml:5: an item of nodes is a map: - {name: sw1"),
          "a.yaml:7: b: \"c/1\": no node is named \"c\"",
          HasSubstr("a.yaml:7: a link has no key \"spede\""),
          HasSubstr("a.yaml:8: a link has two ends, a and b"),
          HasSubstr("a.yaml:9: a: \"a/x\": an end is a node's name and a port"),
          HasSubstr("a.yaml:9: speed: \"FAST\": it is one of SDR, DDR"),
          HasSubstr("a.yaml:10: match: \"z/*\": no link has an end")));
}

TEST(SpecReaderTest, ProfilesThatDoNotFitAreFaults) {
  EXPECT_THAT(
      FaultsOf(Spec("generator: single-switch:hosts=4\nprofiles:\n"
                    "  small: {match: switch-1, ports: 2}\n"
                    "  none: {match: spine-1}\n"
                    "  odd: {match: node-1, speed: 7}\n"
                    "nodes: [{name: x, profile: smal}]\n")),
      ElementsAre("a.yaml:3: profile small has 2 ports, but \"switch-1\" uses "
                  "port 4",
                  HasSubstr("a.yaml:4: profile none is for no node"),
                  HasSubstr("a.yaml:5: speed: \"7\": it is one of SDR"),
                  "a.yaml:6: no profile is named \"smal\": did you mean "
                  "\"small\"?"));
}

TEST(SpecReaderTest, BrokenYamlIsAFaultOfItsLine) {
  EXPECT_THAT(FaultsOf(Spec("nodes:\n  - {name: a\nlinks: ]\n")),
              ElementsAre(HasSubstr(": this is no YAML: ")));
  EXPECT_THAT(FaultsOf(Spec("nodes: []\nnodes: []\n")),
              ElementsAre("a.yaml:2: \"nodes\" stands twice: first on line 1"));
  EXPECT_THAT(FaultsOf(Spec("nodes: [&x {name: a}, *x]\n")),
              Each(HasSubstr("a.yaml:1: anchors (&name) and aliases")));
  EXPECT_THAT(FaultsOf(Spec("- a\n")),
              ElementsAre(HasSubstr("a.yaml:1: a spec is a map")));
  EXPECT_THAT(FaultsOf(Spec("")), ElementsAre(HasSubstr("a.yaml:1: ")));
  EXPECT_THAT(FaultsOf(Spec("nodes:\n")),
              ElementsAre("a.yaml:1: there is no node in this file"));
}

TEST(SpecReaderTest, WhatAResolverFindsHasTheLineOfTheSpec) {
  EXPECT_THAT(FaultsOf(Spec("nodes:\n  - {name: a, guid: 1}\n"
                            "  - {name: b, guid: 1}\n  - {name: a}\n")),
              Contains("a.yaml:4: \"a\" is defined twice: first on line 2"));
}

TEST(SpecReaderTest, IncludesAreReadInAnyFormat) {
  EXPECT_THAT(FaultsOf(Spec("include: /nonexistent.net\n")),
              ElementsAre("a.yaml:1: /nonexistent.net: no such file"));
  EXPECT_THAT(FaultsOf(Spec("include: /dev/null\n")),
              ElementsAre(HasSubstr("it is no regular file")));
  EXPECT_THAT(FaultsOf(Spec("include: x.net\ngenerator: back-to-back\n")),
              ElementsAre(HasSubstr("a.yaml:2: a spec has a generator or an "
                                    "include, not both")));
}

TEST(SpecReaderTest, WhatIsWrittenComesBack) {
  for (const char* spec : {"back-to-back", "fat-tree:radix=4,levels=3",
                           "torus:3x2,speed=QDR", "dragonfly:width=1x"}) {
    auto topology = GenerateTopology(spec);
    ASSERT_TRUE(topology.ok());
    topology->nodes[0].description = "quote\" back\\slash: {x} # \x7f";
    topology->links[0].down = true;
    for (const std::string& text :
         {FormatSpecJson(*topology), FormatSpecYaml(*topology)}) {
      const auto again = Spec(text);
      ASSERT_TRUE(again.ok()) << again.status();
      EXPECT_EQ(FormatSpecJson(*again), FormatSpecJson(*topology));
      EXPECT_EQ(FormatIbnetdiscover(*again), FormatIbnetdiscover(*topology));
    }
  }
}

}  // namespace
}  // namespace ibemu::topology
