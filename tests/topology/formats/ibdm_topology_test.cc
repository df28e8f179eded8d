// ibdm's .topo files and the definitions of systems that they use.
#include <string>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/topology/formats/format_matchers.h"
#include "topology/formats/formats.h"
#include "topology/formats/system_library.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::UnorderedElementsAre;

// Two chips on a board, and a box of two such boards.
constexpr char kBox[] = R"(
SYSTEM LEAF,LEAF:4x
NODE SW 4 MT43132 U1
   1 -> P1
   2 -5G-> U2 1
NODE SW 4 MT43132 U2
   1 -5G-> U1 2
   2 -12x-> P2

SYSTEM LEAF:tiny
NODE SW 2 MT43132 U1
   1 -> P1
   2 -> P3

TOPSYSTEM Box,BX-2
U1=isSpecial
SUBSYSTEM LEAF left
   P1 -> L/P1
   P2 -> right P2
SUBSYSTEM LEAF right
   P1 -> R/P1
   P2 -> left P2
   P3 -> R/P3
)";

class IbdmTopologyTest : public ::testing::Test {
 protected:
  IbdmTopologyTest() {
    systems_.AddText(kBox, "Box.ibnl");
    systems_.AddSmallSystems();
  }

  absl::StatusOr<Topology> Parse(std::string_view text) {
    return ParseIbdmTopology(text, "a.topo", systems_);
  }

  SystemLibrary systems_;
};

TEST_F(IbdmTopologyTest, ASystemOfOneChipIsANodeOfItsName) {
  const auto topology = Parse(
      "# two hosts\nMTS2400 sw-1\n  P1 -4X-5G-> MT23108 h-1 P1\n"
      "  P24 -> MT23108 h-2 P2\n");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(NodesOf(*topology),
              ElementsAre("sw-1: switch 24", "h-1: ca 2", "h-2: ca 2"));
  EXPECT_THAT(LinksOf(*topology),
              ElementsAre("sw-1/1 - h-1/1 4xDDR", "sw-1/24 - h-2/2 4xSDR"));
  EXPECT_EQ(topology->nodes[0].device_id, 0xb924);  // MT47396
  EXPECT_EQ(topology->nodes[0].vendor_id, 0x2c9u);
}

TEST_F(IbdmTopologyTest, ABoxIsItsChipsAndWires) {
  const auto topology = Parse("Box b\n L/P1 -> Cougar h P1\n");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(
      NodesOf(*topology),
      ElementsAre("b/left/U1: switch 4", "b/left/U2: switch 4",
                  "b/right/U1: switch 4", "b/right/U2: switch 4", "h: ca 2"));
  EXPECT_THAT(LinksOf(*topology),
              UnorderedElementsAre("b/left/U1/2 - b/left/U2/1 4xDDR",
                                   "b/right/U1/2 - b/right/U2/1 4xDDR",
                                   "b/left/U2/2 - b/right/U2/2 12xSDR",
                                   "b/left/U1/1 - h/1 4xSDR"));
}

TEST_F(IbdmTopologyTest, BoardsHaveVariantsAndMayBeMissing) {
  const auto small = Parse("BX-2 b CFG: right=tiny\n R/P3 -> Cougar h P1\n");
  ASSERT_TRUE(small.ok()) << small.status();
  EXPECT_THAT(NodesOf(*small),
              ElementsAre("b/left/U1: switch 4", "b/left/U2: switch 4",
                          "b/right/U1: switch 2", "h: ca 2"));
  const auto half = Parse("Box b CFG: right=R\n L/P1 -> Cougar h P1\n");
  ASSERT_TRUE(half.ok()) << half.status();
  EXPECT_EQ(half->nodes.size(), 3u);
}

TEST_F(IbdmTopologyTest, ACableMayBeToldFromBothSystems) {
  const auto topology =
      Parse("MTS800 a\n P1 -> MTS800 b P2\n\nBuffalo b\n P2 -> Buffalo a P1\n");
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(LinksOf(*topology), ElementsAre("a/1 - b/2 4xSDR"));
}

TEST_F(IbdmTopologyTest, FaultsNamePlaceThingAndRule) {
  EXPECT_THAT(
      FaultsOf(Parse("MTS2401 s\n P1 -> MT23108 h P1\n\n"
                     "Box b\n L/P2 -> MT23108 h P3\n P1 => x\n"
                     " L/P1 -> passed over\n\n\n"
                     " P9 -> MT23108 h P1\n"
                     "Box c CFG: lft=R\n\nMTS800 h\n")),
      ElementsAre(
          HasSubstr("a.topo:1: no system is named \"MTS2401\": an .ibnl file"),
          "a.topo:5: \"b\", of type Box, has no port \"L/P2\": did you mean "
          "\"L/P1\"?",
          HasSubstr("a.topo:5: \"h\", of type MT23108, has no port \"P3\""),
          HasSubstr("a.topo:6: a system is its type and its name"),
          HasSubstr("a.topo:10: this cable belongs to no system"),
          HasSubstr("a.topo:11: Box has no board \"lft\""),
          "a.topo:13: \"h\" is of type MTS800 here, but MT23108 on line 2"));
}

TEST_F(IbdmTopologyTest, ACableHasAPortARateAndAFarEnd) {
  EXPECT_THAT(
      FaultsOf(Parse("MTS800 s\n P1 -16x-> Cougar h P1\n P1 -> Cougar h\n"
                     " P1 -4x-3G-> Cougar h P1\n P1 ->\n")),
      ElementsAre(HasSubstr("a.topo:2: \"16x\" is neither a width"),
                  HasSubstr("a.topo:3: a cable leads to the type of a system"),
                  HasSubstr("a.topo:4: \"3G\" is neither a width"),
                  HasSubstr("a.topo:5: an arrow leads from a port")));
}

TEST_F(IbdmTopologyTest, ADefinitionsFaultsAreToldToWhoUsesIt) {
  systems_.AddText("TOPSYSTEM Odd\nNODE SW 400 X U1\nNODE SW 4 X U2\n9 -> P1\n",
                   "Odd.ibnl");
  systems_.AddText("TOPSYSTEM Deep\nSUBSYSTEM B x\n", "Deep.ibnl");
  systems_.AddText(
      "SYSTEM A\nSUBSYSTEM A a\nSUBSYSTEM A b\nTOPSYSTEM Ever\n"
      "SUBSYSTEM A a\n",
      "Ever.ibnl");
  EXPECT_THAT(
      FaultsOf(Parse("Odd a\n\nDeep b\n\nEver c\n")),
      ElementsAre(HasSubstr("a.topo:1: Odd.ibnl:2: NODE takes SW or CA"),
                  "a.topo:1: Odd.ibnl:4: \"9\" is no port of U2: it has 4",
                  "a.topo:3: Deep.ibnl defines no SYSTEM \"B\", of which \"x\" "
                  "is one",
                  HasSubstr("a.topo:5: Ever.ibnl: ")));
}

}  // namespace
}  // namespace ibemu::topology
