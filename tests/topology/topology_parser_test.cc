#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/temp_directory.h"
#include "topology/formats/load_topology.h"
#include "topology/generators.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/topology.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

Topology Parse(std::string_view text) {
  absl::StatusOr<Topology> topology = ParseTopology(text, "lab.net");
  EXPECT_TRUE(topology.ok()) << topology.status();
  return topology.ok() ? *std::move(topology) : Topology();
}

// "sw1[1]" -> "H1[1]", from a to b.
std::map<std::string, std::string> CablesOf(const Topology& topology) {
  std::map<std::string, std::string> cables;
  for (const LinkSpec& link : topology.links) {
    cables[topology.node(link.a).name + "[" + std::to_string(link.port_a) +
           "]"] =
        topology.node(link.b).name + "[" + std::to_string(link.port_b) + "]";
  }
  return cables;
}

// What ibnetdiscover prints: a switch, an adapter with port GUIDs of its own,
// a two-port ConnectX one whose first port has the node's GUID, a router.
constexpr char kDiscovered[] = R"(#
# Topology file: generated on Mon Aug  3 10:11:12 2026
#
# Initiated from node 0002c90300a1b2c0 port 0002c90300a1b2c1

vendid=0x2c9
devid=0xc738
sysimgguid=0xf4521403001c4d43
switchguid=0xf4521403001c4d40(f4521403001c4d41)
Switch	36 "S-f4521403001c4d40"		# "MF0;leaf-1:SX6036/U1" enhanced port 0 lid 1 lmc 0
[1]	"H-0002c90300a1b2c0"[1](2c90300a1b2c1) 		# "node-1 HCA-1" lid 2 4xFDR
[17]	"H-506b4b0300aa0000"[2](506b4b0300aa0008) 		# "node "2" lid 9 1xSDR" lid 3 4xEDR
[36]	"R-0011223344556677"[1](11223344556678) 		# "gateway" lid 4 4xQDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c90300a1b2c3
caguid=0x2c90300a1b2c0
Ca	1 "H-0002c90300a1b2c0"		# "node-1 HCA-1"
[1](2c90300a1b2c1) 	"S-f4521403001c4d40"[1]		# lid 2 lmc 0 "MF0;leaf-1:SX6036/U1" lid 1 4xFDR

vendid=0x2c9
devid=0x1017
sysimgguid=0x506b4b0300aa0000
caguid=0x506b4b0300aa0000
Ca	2 "H-506b4b0300aa0000"		# "node "2" lid 9 1xSDR"
[2](506b4b0300aa0008) 	"S-f4521403001c4d40"[17]		# lid 3 lmc 0 "MF0;leaf-1:SX6036/U1" lid 1 4xEDR

vendid=0x8f1
devid=0x5a5a
sysimgguid=0x11223344556677
rtguid=0x11223344556677
Rt	2 "R-0011223344556677"		# "gateway"
[1](11223344556678) 	"S-f4521403001c4d40"[36]		# lid 4 lmc 0 "MF0;leaf-1:SX6036/U1" lid 1 4xQDR
)";

TEST(IbnetdiscoverTest, TellsNodes) {
  const Topology topology = Parse(kDiscovered);
  ASSERT_EQ(topology.nodes.size(), 4u);

  const NodeSpec& leaf = topology.nodes[0];
  EXPECT_EQ(leaf.type, mad::NodeType::kSwitch);
  EXPECT_EQ(leaf.name, "S-f4521403001c4d40");
  EXPECT_EQ(leaf.description, "MF0;leaf-1:SX6036/U1");
  EXPECT_EQ(leaf.node_guid, wire::Guid{0xf4521403001c4d40});
  EXPECT_EQ(leaf.system_image_guid, wire::Guid{0xf4521403001c4d43});
  EXPECT_THAT(leaf.port_guids, ElementsAre(wire::Guid{0xf4521403001c4d41}));
  EXPECT_EQ(leaf.vendor_id, 0x2c9u);
  EXPECT_EQ(leaf.device_id, 0xc738);
  EXPECT_EQ(leaf.port_count, 36);
  EXPECT_TRUE(leaf.enhanced_port_0);
  EXPECT_EQ(leaf.line, 10);

  EXPECT_THAT(topology.nodes[1].port_guids,
              ElementsAre(wire::Guid{0x2c90300a1b2c1}));
  EXPECT_EQ(topology.nodes[2].description, "node \"2\" lid 9 1xSDR");
  EXPECT_EQ(topology.nodes[3].type, mad::NodeType::kRouter);
  EXPECT_EQ(topology.nodes[3].vendor_id, 0x8f1u);
}

TEST(IbnetdiscoverTest, TellsCablesAndTheirRates) {
  const Topology topology = Parse(kDiscovered);
  EXPECT_THAT(CablesOf(topology),
              UnorderedElementsAre(
                  Pair("S-f4521403001c4d40[1]", "H-0002c90300a1b2c0[1]"),
                  Pair("S-f4521403001c4d40[17]", "H-506b4b0300aa0000[2]"),
                  Pair("S-f4521403001c4d40[36]", "R-0011223344556677[1]")));
  EXPECT_EQ(topology.links[0].rate, (LinkRate{3, 7, 1, 0, true}));   // FDR
  EXPECT_EQ(topology.links[1].rate, (LinkRate{3, 7, 3, 0, true}));   // EDR
  EXPECT_EQ(topology.links[2].rate, (LinkRate{3, 7, 0, 0, false}));  // QDR
}

TEST(IbnetdiscoverTest, FindsAGuidForPortsWithoutCable) {
  const Topology topology = Parse(kDiscovered);
  EXPECT_THAT(topology.nodes[2].port_guids,
              ElementsAre(wire::Guid{0x506b4b0300aa0001},
                          wire::Guid{0x506b4b0300aa0008}));
}

TEST(IbnetdiscoverTest, IsWrittenAsItWasRead) {
  const std::string text = FormatIbnetdiscover(Parse(kDiscovered));
  EXPECT_THAT(text, HasSubstr(R"(
vendid=0x2c9
devid=0xc738
sysimgguid=0xf4521403001c4d43
switchguid=0xf4521403001c4d40(f4521403001c4d41)
Switch	36 "S-f4521403001c4d40"		# "MF0;leaf-1:SX6036/U1" enhanced port 0 lid 0 lmc 0
[1]	"H-0002c90300a1b2c0"[1](2c90300a1b2c1) 		# "node-1 HCA-1" lid 0 4xFDR
)"));
  EXPECT_THAT(text, HasSubstr(R"(
caguid=0x2c90300a1b2c0
Ca	1 "H-0002c90300a1b2c0"		# "node-1 HCA-1"
[1](2c90300a1b2c1) 	"S-f4521403001c4d40"[1]		# lid 0 lmc 0 "MF0;leaf-1:SX6036/U1" lid 0 4xFDR
)"));
  EXPECT_THAT(text, HasSubstr("\nrtguid=0x11223344556677\nRt\t2 \"R-"));
  // And read again as it was written.
  EXPECT_EQ(FormatIbnetdiscover(Parse(text)), text);
}

TEST(IbnetdiscoverTest, ReadsWhatTheGroupingOptionAdds) {
  const Topology topology = Parse(R"(
Chassis 1 (guid 0x8f10400411f58)
Hostname: iba-7

# Spine Nodes
vendid=0x8f1
devid=0x5a37
sysimgguid=0x8f10400411f58		# Chassis 1 (iba-7) slot 3
switchguid=0x8f10400411f50(8f10400411f50)	# ISR 9288 spine 1
Switch	24 "S-0008f10400411f50"		# "spine" base port 0 lid 5 lmc 0
[1][ext 7]	"S-0008f10400411f60"[2][ext 9]		# "line" lid 6 4xDDR s=2 w=2 v=4
[2]	"H-0008f10400411f70"[1](8f10400411f71) 		# "xg" lid 6 4xSDR slot 2

# Chassis Switches
switchguid=0x8f10400411f60(8f10400411f60)
Switch	24 "S-0008f10400411f60"		# "line" base port 0 lid 6 lmc 0
[2][ext 9]	"S-0008f10400411f50"[1][ext 7]		# "spine" lid 5 4xDDR s=2 w=2 v=4

Non-Chassis Nodes

caguid=0x8f10400411f70
Ca	1 "H-0008f10400411f70"		# "xg" (scp)
[1](8f10400411f71) 	"S-0008f10400411f50"[2]		# lid 6 lmc 0 "spine" lid 5 4xSDR (scp)
)");
  EXPECT_EQ(topology.links.size(), 2u);
  EXPECT_EQ(topology.links[0].rate, (LinkRate{3, 3, 0, 0, false}));
}

TEST(IbnetdiscoverTest, ReadsAdaptersBackToBack) {
  const Topology topology = Parse(R"(
caguid=0x10
Ca	1 "H-0000000000000010"		# "left"
[1](11) 	"H-0000000000000020"[1] (21) 		# lid 1 lmc 0 "right" lid 2 12xHDR

caguid=0x20
Ca	1 "H-0000000000000020"		# "right"
[1](21) 	"H-0000000000000010"[1] (11) 		# lid 2 lmc 0 "left" lid 1 12xHDR
)");
  ASSERT_EQ(topology.links.size(), 1u);
  EXPECT_EQ(topology.links[0].rate.width, 1 | 2 | 8);
  EXPECT_THAT(FormatIbnetdiscover(topology),
              HasSubstr("[1](11) \t\"H-0000000000000020\"[1] (21) \t\t# lid 0 "
                        "lmc 0 \"right\" lid 0 12xHDR\n"));
}

TEST(IbnetdiscoverTest, PassesOverGuidsOfASwitchsExternalPorts) {
  const Topology topology =
      Parse("Switch 4 \"s\"\n[3](77) \"s\"[4](78)\n[4](78) \"s\"[3](77)\n");
  EXPECT_THAT(topology.nodes[0].port_guids,
              ElementsAre(topology.nodes[0].node_guid));
}

TEST(IbnetdiscoverTest, KnowsEveryRate) {
  for (const char* name : {"1xSDR", "4xDDR", "4xQDR", "4xFDR10", "8xFDR",
                           "12xEDR", "2xHDR", "2xNDR", "4xNDR", "4xXDR"}) {
    const std::string text = std::string("Ca 1 \"a\"\n[1] \"b\"[1] # lid 1 ") +
                             name + "\n\nCa 1 \"b\"\n[1] \"a\"[1] # lid 1 " +
                             name + "\n";
    EXPECT_THAT(FormatIbnetdiscover(Parse(text)), HasSubstr(name));
  }
}

TEST(IbsimTest, ReadsPlainNames) {
  const Topology topology = Parse(R"(
# a comment
Switch	8 "Switch1"
[1]	"Hca1"[1]
# a comment among ports
[2]	"Hca2"

Hca	2 "Hca1"
[1]	"Switch1"[1]

Ca 2 "Hca2" # a description without quotes
[1]	"Switch1"[2])");
  EXPECT_THAT(CablesOf(topology),
              UnorderedElementsAre(Pair("Switch1[1]", "Hca1[1]"),
                                   Pair("Switch1[2]", "Hca2[1]")));
  EXPECT_EQ(topology.nodes[0].description, "Switch1");
  EXPECT_EQ(topology.nodes[2].description, "a description without quotes");
}

TEST(IbsimTest, NumbersGuidsAsIbsimDoes) {
  const Topology topology = Parse(R"(
Switch 8 "sw1"

Switch 8 "sw2"

Ca 2 "h1"

Ca 1 "h2"

hcaguids=0x5000
Ca 2 "h3"

hcaguids+0x100
Ca 1 "h4"

Ca 1 "H-00000000000000ff"
)");
  std::vector<uint64_t> guids;
  for (const NodeSpec& node : topology.nodes) {
    guids.push_back(static_cast<uint64_t>(node.node_guid));
  }
  EXPECT_THAT(guids, ElementsAre(0x200000, 0x200001, 0x100000, 0x100003, 0x5000,
                                 0x5100, 0xff));
  EXPECT_THAT(topology.nodes[2].port_guids,
              ElementsAre(wire::Guid{0x100001}, wire::Guid{0x100002}));
  EXPECT_THAT(topology.nodes[0].port_guids, ElementsAre(wire::Guid{0x200000}));
}

TEST(IbsimTest, TakesWidthAndSpeedAsMasks) {
  const Topology topology = Parse(R"(
Switch 8 "sw1"
[1] "h1"[1] w=8 s=4
[2] "h2"[1] e=3
[3] "h3"[1]

Ca 1 "h1"
[1] "sw1"[1]	w=10

Ca 1 "h2"
[1] "sw1"[2]

width=1
speed=3
Ca 1 "h3"
[1] "sw1"[3]
)");
  ASSERT_EQ(topology.links.size(), 3u);
  EXPECT_EQ(topology.links[0].rate, (LinkRate{8, 4, 0, 0, false}));
  EXPECT_EQ(topology.links[1].rate, (LinkRate{3, 7, 3, 0, false}));
  EXPECT_EQ(topology.links[2].rate, (LinkRate{1, 3, 0, 0, false}));
}

TEST(IbsimTest, ReadsModulesAndAliases) {
  const Topology topology = Parse(R"(
module="rack1"
Switch 8 "sw"
[1] "h"[1]
@[8] "uplink"

Ca 1 "h"
[1] "sw"[1]

module="rack2"
Switch 8 "sw"
[7] "rack1@uplink"
[6] "rack1#spare"[2]

module="rack1"
Switch 4 "spare"
[2] "rack2#sw"[6]
)");
  EXPECT_THAT(CablesOf(topology),
              UnorderedElementsAre(Pair("rack1#sw[1]", "rack1#h[1]"),
                                   Pair("rack2#sw[7]", "rack1#sw[8]"),
                                   Pair("rack2#sw[6]", "rack1#spare[2]")));
}

TEST(IbsimTest, NeedsNoBlankLineBehindAFullNode) {
  EXPECT_EQ(Parse("Ca 1 \"a\"\n[1] \"b\"[1]\nCa 1 \"b\"\n[1] \"a\"[1]\n")
                .links.size(),
            1u);
}

TEST(IbsimTest, ReadsLineEndsOfWindows) {
  EXPECT_EQ(Parse("Ca 1 \"a\"\r\n[1] \"b\"[1]\r\n\r\nCa 1 \"b\"\r\n"
                  "[1] \"a\"[1]\r\n")
                .links.size(),
            1u);
}

TEST(IbsimTest, AllowsALoopbackCable) {
  EXPECT_EQ(Parse("Switch 4 \"s\"\n[1] \"s\"[2]\n[2] \"s\"[1]\n").links.size(),
            1u);
}

class TopologyFileTest : public ::testing::Test {
 protected:
  std::string Write(const std::string& name, std::string_view text) {
    const std::filesystem::path path = directory_ / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
    return path.string();
  }

  const testing::TempDirectory temporary_;
  const std::filesystem::path directory_ = temporary_.path();
};

TEST_F(TopologyFileTest, LoadsAFileAndTellsHowFarItHasCome) {
  const std::string path = Write("lab.net", kDiscovered);
  std::vector<std::string> phases;
  const absl::StatusOr<Topology> topology = LoadTopology(
      path, [&](std::string_view phase, size_t done, size_t total) {
        EXPECT_LE(done, total);
        phases.emplace_back(phase);
      });
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes.size(), 4u);
  EXPECT_THAT(phases, ElementsAre("reading " + path, "linking"));
}

TEST_F(TopologyFileTest, LoadsWhatAGeneratorMakes) {
  const absl::StatusOr<Topology> topology =
      LoadTopology("single-switch:hosts=3");
  ASSERT_TRUE(topology.ok());
  EXPECT_EQ(topology->nodes.size(), 4u);
}

TEST_F(TopologyFileTest, NamesAFileThatIsMissing) {
  const absl::Status status = LoadTopology("/no/lab.net").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(), "/no/lab.net: no such file");
}

TEST_F(TopologyFileTest, AsksWhetherAGeneratorWasMeant) {
  const absl::Status status = LoadTopology("fattree:radix=4").status();
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(status.message(),
            "fattree:radix=4: no such file: did you mean \"fat-tree\"?");
}

TEST_F(TopologyFileTest, RefusesADirectory) {
  const absl::Status status = LoadTopology(directory_.string()).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()), HasSubstr("is a directory"));
}

TEST_F(TopologyFileTest, IncludesFilesOfTheSameFolder) {
  Write("parts/hosts.net", "Ca 1 \"h1\"\n[1] \"sw1\"[1]\n");
  Write("parts/all.net", "include \"hosts.net\"\n");
  const absl::StatusOr<Topology> topology = LoadTopology(
      Write("lab.net",
            "include \"parts/all.net\"\nSwitch 2 \"sw1\"\n[1] \"h1\"[1]\n"));
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->links.size(), 1u);
}

TEST_F(TopologyFileTest, NamesTheFileOfEachFault) {
  const std::string part = Write("part.net", "\nCa 1 \"h1\"\n");
  const std::string all =
      Write("lab.net", "include \"part.net\"\nCa 1 \"h1\"\n\ninclude \"x\"\n");
  const absl::Status status = LoadTopology(all).status();
  EXPECT_EQ(status.message(),
            all + ":2: \"h1\" is defined twice: first on " + part + ":2\n" +
                all + ":4: " + (directory_ / "x").string() + ": no such file");
}

TEST_F(TopologyFileTest, RefusesToIncludeInACircle) {
  const std::string a = Write("a.net", "include \"b.net\"\n");
  Write("b.net", "include \"./a.net\"\n");
  EXPECT_THAT(std::string(LoadTopology(a).status().message()),
              HasSubstr("goes round in a circle"));
}

TEST_F(TopologyFileTest, RefusesToIncludeADevice) {
  const std::string a = Write("a.net", "include \"/dev/zero\"\n");
  EXPECT_THAT(std::string(LoadTopology(a).status().message()),
              HasSubstr("no regular file"));
}

TEST(NormalizeTest, MakesTextsOfTheSameSubnetEqual) {
  // The same as kDiscovered, in another order, with other names and LIDs.
  const std::string shuffled = R"(
vendid=0x8f1
devid=0x5a5a
sysimgguid=0x11223344556677
rtguid=0x11223344556677
Rt	2 "gateway"
[1](11223344556678) 	"leaf"[36]		# lid 7 lmc 0 "x" lid 3 4xQDR

vendid=0x2c9
devid=0x1017
caguid=0x506b4b0300aa0000
Ca	2 "node-2"		# "node "2" lid 9 1xSDR"
[2](506b4b0300aa0008) 	"leaf"[17]		# lid 3 lmc 0 "x" lid 1 4xEDR

vendid=0x2c9
devid=0x1003
sysimgguid=0x2c90300a1b2c3
caguid=0x2c90300a1b2c0
Ca	1 "node-1"		# "node-1 HCA-1"
[1] 	"leaf"[1]		# lid 2 lmc 0 "x" lid 1 4xFDR

vendid=0x2c9
devid=0xc738
sysimgguid=0xf4521403001c4d43
switchguid=0xf4521403001c4d40(f4521403001c4d41)
Switch	36 "leaf"		# "MF0;leaf-1:SX6036/U1" enhanced port 0 lid 1 lmc 0
[36]	"gateway"[1]		# "gateway" lid 4 4xQDR
[17]	"node-2"[2]		# "x" lid 3 4xEDR
[1]	"node-1"[1](2c90300a1b2c1) 		# "node-1 HCA-1" lid 2 4xFDR
)";
  EXPECT_EQ(FormatIbnetdiscover(NormalizeTopology(Parse(shuffled))),
            FormatIbnetdiscover(NormalizeTopology(Parse(kDiscovered))));
}

TEST(NormalizeTest, TellsSubnetsApart) {
  std::string other = kDiscovered;
  for (size_t at; (at = other.find("4xEDR")) != other.npos;) {
    other.replace(at, 5, "4xHDR");
  }
  EXPECT_NE(FormatIbnetdiscover(NormalizeTopology(Parse(other))),
            FormatIbnetdiscover(NormalizeTopology(Parse(kDiscovered))));
}

class RoundTripTest : public ::testing::TestWithParam<const char*> {};

TEST_P(RoundTripTest, WhatIsWrittenParsesToTheSame) {
  const absl::StatusOr<Topology> made = GenerateTopology(GetParam());
  ASSERT_TRUE(made.ok());
  const std::string text = FormatIbnetdiscover(*made);
  const Topology read = Parse(text);
  EXPECT_EQ(read.nodes.size(), made->nodes.size());
  EXPECT_EQ(read.links.size(), made->links.size());
  EXPECT_EQ(FormatIbnetdiscover(read), text);
  EXPECT_EQ(FormatIbnetdiscover(NormalizeTopology(read)),
            FormatIbnetdiscover(NormalizeTopology(*made)));
}

INSTANTIATE_TEST_SUITE_P(Shapes, RoundTripTest,
                         ::testing::Values("back-to-back", "single-switch",
                                           "fat-tree:radix=36,levels=2",
                                           "fat-tree:radix=8,levels=3",
                                           "torus:2x3x4,hosts=2,speed=ndr",
                                           "dragonfly:speed=xdr,width=2x"));

}  // namespace
}  // namespace ibemu::topology
