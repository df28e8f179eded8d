// Graphviz's language: the graph, and the subnet that is made of it.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/topology/formats/format_matchers.h"
#include "topology/formats/formats.h"
#include "topology/generators.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Topology> Dot(std::string_view text) {
  return ParseDot(text, "a.dot");
}

TEST(DotReaderTest, WhoHasOneCableIsAHostAndWhoHasMoreASwitch) {
  const auto topology = Dot("graph { h1 -- sw1; h2 -- sw1 }");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(NodesOf(*topology),
              ElementsAre("h1: ca 1", "sw1: switch 2", "h2: ca 1"));
  EXPECT_THAT(LinksOf(*topology),
              ElementsAre("h1/1 - sw1/1 4xHDR", "h2/1 - sw1/2 4xHDR"));
  EXPECT_EQ(topology->nodes[0].description, "h1");
}

TEST(DotReaderTest, PortsThatAreNamedAreKeptAndOthersTakeWhatIsFree) {
  const auto topology =
      Dot("digraph g { sw:1 -> a\n sw -> b; sw -> c [taillabel=2]; sw -> d }");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(LinksOf(*topology),
              ElementsAre("sw/1 - a/1 4xHDR", "sw/3 - b/1 4xHDR",
                          "sw/2 - c/1 4xHDR", "sw/4 - d/1 4xHDR"));
}

TEST(DotReaderTest, AttributesSayWhatANodeIs) {
  const auto topology = Dot(R"(
    graph {
      node [type=ca, ports=2]
      h1 [label="host \"one\"", guid="0x100", vendor_id="0x2c9",
          firmware="1.2.3", port_guids="0x111,0x112"]
      sw1 [type=switch, ports=36, enhanced_port_0=true]
      h1 -- sw1 [rate="2xNDR", length=30, down=true];
      h1 -- sw1 [label="12xEDR"]
    })");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(NodesOf(*topology), ElementsAre("h1: ca 2", "sw1: switch 36"));
  const NodeSpec& host = topology->nodes[0];
  EXPECT_EQ(host.description, "host \"one\"");
  EXPECT_EQ(host.node_guid, wire::Guid{0x100});
  EXPECT_THAT(host.port_guids,
              ElementsAre(wire::Guid{0x111}, wire::Guid{0x112}));
  EXPECT_EQ(host.vendor_id, 0x2c9u);
  ASSERT_NE(host.label, nullptr);
  EXPECT_EQ(host.label->firmware, "1.2.3");
  EXPECT_TRUE(topology->nodes[1].enhanced_port_0);
  EXPECT_THAT(LinksOf(*topology),
              ElementsAre("h1/1 - sw1/1 2xNDR down", "h1/2 - sw1/2 12xEDR"));
  EXPECT_EQ(topology->links[0].length, 30);
}

TEST(DotReaderTest, SubgraphsStandForTheirNodes) {
  const auto topology = Dot(R"(
    graph {
      subgraph hosts { node [type=ca] a b }
      edge [rate="4xEDR"]
      sw -- {a b} -- other
    })");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(LinksOf(*topology),
              ElementsAre("sw/1 - a/1 4xEDR", "sw/2 - b/1 4xEDR",
                          "a/2 - other/1 4xEDR", "b/2 - other/2 4xEDR"));
}

TEST(DotReaderTest, WhatConcernsDrawingsIsPassedOver) {
  const auto topology =
      Dot("# made by hand\nstrict graph \"my\" + \" graph\" {\n"
          "/* a comment */ rankdir=LR; graph [splines=false] // another\n"
          "a [color=red label=<<b>bold</b>>]; a -- b [penwidth=2.5]}\n");
  EXPECT_TRUE(topology.ok()) << topology.status();
}

TEST(DotReaderTest, FaultsNamePlaceThingAndRule) {
  EXPECT_THAT(FaultsOf(Dot("grap { a -- b }")),
              ElementsAre("a.dot:1: a file in DOT begins with graph or "
                          "digraph"));
  EXPECT_THAT(FaultsOf(Dot("graph {\n a -- \n}")),
              ElementsAre("a.dot:3: \"}\" stands where a node's name should "
                          "be"));
  EXPECT_THAT(FaultsOf(Dot("graph {\n a -- \"b \n}")),
              ElementsAre("a.dot:2: this text in quotes has no end"));
  EXPECT_THAT(FaultsOf(Dot("graph {\n a -- b")),
              ElementsAre("a.dot:2: the text ends where a graph ends with "
                          "\"}\""));
  EXPECT_THAT(FaultsOf(Dot("graph { a -- b [x=1;\n}")),
              ElementsAre(HasSubstr("a.dot:2: \"}\" stands where a name")));
  EXPECT_THAT(FaultsOf(Dot("graph { /* a -- b }")),
              ElementsAre("a.dot:1: this comment has no end: it is */"));
  EXPECT_THAT(FaultsOf(Dot("graph { a } graph { b }")),
              ElementsAre("a.dot:1: a file has one graph, and this stands "
                          "behind it"));
}

TEST(DotReaderTest, WrongValuesAreToldAllTogether) {
  EXPECT_THAT(
      FaultsOf(Dot("graph {\n a [type=box]\n b [ports=0, guid=0]\n"
                   "a -- b [rate=fast]\n a:300 -- c\n}")),
      ElementsAre("a.dot:2: type=\"box\" of \"a\": it is one of ca, switch, "
                  "router",
                  "a.dot:3: ports=\"0\" of \"b\": it is a number from 1 to 254",
                  HasSubstr("a.dot:3: guid=\"0\" of \"b\": it is a GUID other"),
                  HasSubstr("a.dot:4: rate=\"fast\" of an edge: it is a width"),
                  HasSubstr("a.dot:5: port 1000 of \"a\" does not exist")));
}

TEST(DotReaderTest, WhatIsWrittenComesBack) {
  for (const char* spec : {"back-to-back", "fat-tree:radix=4,levels=3",
                           "torus:3x2,speed=QDR", "dragonfly:width=1x"}) {
    const auto topology = GenerateTopology(spec);
    ASSERT_TRUE(topology.ok());
    const auto again = Dot(FormatDot(*topology));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(FormatIbnetdiscover(*again), FormatIbnetdiscover(*topology));
    EXPECT_EQ(FormatDot(*again), FormatDot(*topology));
  }
}

TEST(DotReaderTest, AnyDescriptionComesBack) {
  for (const std::string description :
       {"a\"b", "back\\slash", "both\\\"", "end\\", "\\N", "two  blanks"}) {
    auto topology = GenerateTopology("back-to-back");
    ASSERT_TRUE(topology.ok());
    topology->nodes[0].description = description;
    const auto again = Dot(FormatDot(*topology));
    ASSERT_TRUE(again.ok()) << again.status();
    EXPECT_EQ(again->nodes[0].description, description);
  }
}

}  // namespace
}  // namespace ibemu::topology
