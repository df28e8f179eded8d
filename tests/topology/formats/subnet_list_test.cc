// ibdm's lists of cables, as OpenSM and ibdiagnet write them.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/topology/formats/format_matchers.h"
#include "topology/formats/formats.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kHost[] =
    "{ CA-SM Ports:01 SystemGUID:0000000000000100 NodeGUID:0000000000000100 "
    "PortGUID:0000000000000101 VenID:000002C9 DevID:6278 Rev:000000A0 "
    "{node {1} } LID:0001 PN:01 }";
constexpr char kSwitch[] =
    "{ SW Ports:18 SystemGUID:0000000000000200 NodeGUID:0000000000000200 "
    "PortGUID:0000000000000200 VenID:000002C9 DevID:B9240000 Rev:000000A1 "
    "{leaf-1} LID:0002 PN:0C }";

absl::StatusOr<Topology> List(std::string_view text) {
  return ParseSubnetList(text, "a.lst");
}

TEST(SubnetListTest, ALineIsACable) {
  const auto topology =
      List(absl::StrCat(kHost, " ", kSwitch, " PHY=4x LOG=ACT SPD=5\n"));
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(NodesOf(*topology), ElementsAre("H-0000000000000100: ca 1",
                                              "S-0000000000000200: switch 24"));
  EXPECT_THAT(
      LinksOf(*topology),
      ElementsAre("H-0000000000000100/1 - S-0000000000000200/12 4xDDR"));
  const NodeSpec& host = topology->nodes[0];
  EXPECT_EQ(host.description, "node {1} ");
  EXPECT_EQ(host.port_guids[0], wire::Guid{0x101});
  EXPECT_EQ(host.vendor_id, 0x2c9u);
  EXPECT_EQ(host.device_id, 0x6278);
  // OpenSM and ibdiagnet print 32 bits of which the upper are the ID.
  EXPECT_EQ(topology->nodes[1].device_id, 0xb924);
}

TEST(SubnetListTest, WithoutASpeedItIsSdr) {
  const auto topology =
      List(absl::StrCat(kHost, " ", kSwitch, " PHY=12x LOG=INI\n"));
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(LinksOf(*topology), ElementsAre(HasSubstr(" 12xSDR")));
}

TEST(SubnetListTest, ACableMayBeToldFromBothEnds) {
  const auto topology =
      List(absl::StrCat(kHost, kSwitch, " PHY=4x LOG=ACT\n", kSwitch, " ",
                        kHost, " PHY=4x LOG=ACT\n"));
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->links.size(), 1u);
}

TEST(SubnetListTest, ACaWithOneGuidForManyPortsIsASwitch) {
  const auto end = [](int node, int port) {
    return absl::StrFormat(
        "{ CA Ports:08 SystemGUID:0 NodeGUID:%x PortGUID:%x VenID:2C9 DevID:1 "
        "Rev:0 {n} LID:1 PN:%x }",
        node, node, port);
  };
  const auto topology =
      List(absl::StrCat(end(0x100, 1), end(0x200, 1), " PHY=4x\n",
                        end(0x100, 2), end(0x300, 1), " PHY=4x\n"));
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_THAT(NodesOf(*topology), ElementsAre("S-0000000000000100: switch 8",
                                              "H-0000000000000200: ca 8",
                                              "H-0000000000000300: ca 8"));
}

TEST(SubnetListTest, AllFaultsAreToldWithTheirLines) {
  const std::string good = absl::StrCat(kHost, " ", kSwitch);
  EXPECT_THAT(
      FaultsOf(List(absl::StrCat("hello\n# not this\n", good, " PHY=5x\n", good,
                                 " PHY=4x SPD=11\n", good, " LGO=ACT\n",
                                 "{ XX Ports:01 }\n", "{ CA Ports:zz }\n"))),
      ElementsAre(HasSubstr("a.lst:1: a line is two ends of a cable"),
                  "a.lst:3: \"PHY=5x\" is no width: it is from 1x to 12x",
                  HasSubstr("a.lst:4: \"SPD=11\" is no speed of a lane: it is "
                            "one of 2.5, 5,"),
                  HasSubstr("a.lst:5: \"LGO=ACT\" says nothing of a cable"),
                  "a.lst:6: \"XX\" is no type of a node: it is CA, SW or Rt",
                  HasSubstr("a.lst:7: an end has Ports:, SystemGUID:")));
}

TEST(SubnetListTest, APortHasOneCable) {
  const std::string line = absl::StrCat(kHost, " ", kSwitch, " PHY=4x\n");
  EXPECT_THAT(FaultsOf(List(absl::StrCat(line, line))),
              ElementsAre(HasSubstr("a.lst:2: port 1 of \"H-0000000000000100\" "
                                    "is used twice: first on line 1"),
                          HasSubstr("a.lst:2: port 12 of")));
}

TEST(SubnetListTest, ANodeIsTheSameOnAllLines) {
  std::string other = kSwitch;
  other.replace(other.find("Ports:18"), 8, "Ports:08");
  EXPECT_THAT(FaultsOf(List(absl::StrCat(kHost, kSwitch, " PHY=4x\n", kHost,
                                         other, " PHY=4x\n"))),
              ElementsAre("a.lst:2: node 0x200 has another type or number of "
                          "ports here than on line 1"));
}

}  // namespace
}  // namespace ibemu::topology
