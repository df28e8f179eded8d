// What golden/ can't say of the format of ibnetdiscover and ibsim, and of
// files.
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/golden_cases.h"
#include "testing/temp_directory.h"
#include "topology/formats/load_topology.h"
#include "topology/generators.h"
#include "topology/ibnetdiscover_writer.h"
#include "topology/topology.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Topology Parse(std::string_view text) {
  absl::StatusOr<Topology> topology = ParseTopology(text, "lab.net");
  EXPECT_TRUE(topology.ok()) << topology.status();
  return topology.ok() ? *std::move(topology) : Topology();
}

// One string a fault.
std::vector<std::string> FaultsOf(std::string_view text) {
  const absl::StatusOr<Topology> topology = ParseTopology(text, "lab.net");
  EXPECT_EQ(topology.status().code(), absl::StatusCode::kInvalidArgument);
  return absl::StrSplit(topology.status().message(), '\n');
}

TEST(TopologyParserTest, ReadsLineEndsOfWindows) {
  EXPECT_EQ(Parse("Ca 1 \"a\"\r\n[1] \"b\"[1]\r\n\r\nCa 1 \"b\"\r\n"
                  "[1] \"a\"[1]\r\n")
                .links.size(),
            1u);
}

TEST(TopologyParserTest, NeedsNoLineEndAtTheEnd) {
  EXPECT_EQ(Parse("Ca 1 \"a\"\n[1] \"b\"[1]\n\nCa 1 \"b\"\n[1] \"a\"[1]")
                .links.size(),
            1u);
}

TEST(TopologyParserTest, SeesWhetherPort0IsEnhancedBehindTheDescription) {
  const Topology topology = Parse(
      "Switch 8 \"a\" # \"an enhanced port 0\" base port 0 lid 1 lmc 0\n\n"
      "Switch 8 \"b\" # \"b\" enhanced port 0 lid 2 lmc 0\n\n"
      "Switch 8 \"c\" # enhanced port 0\n");
  EXPECT_FALSE(topology.nodes[0].enhanced_port_0);
  EXPECT_EQ(topology.nodes[0].description, "an enhanced port 0");
  EXPECT_TRUE(topology.nodes[1].enhanced_port_0);
  EXPECT_TRUE(topology.nodes[2].enhanced_port_0);
  EXPECT_EQ(topology.nodes[2].description, "c");
}

TEST(TopologyParserTest, CountsFaultsThatAreTooManyToTell) {
  std::string text;
  for (int i = 0; i < 250; ++i) text += "frobnicate\n";
  const std::vector<std::string> faults = FaultsOf(text);
  EXPECT_EQ(faults.size(), 101u);
  EXPECT_EQ(faults.back(), "and 150 more");
}

TEST(TopologyParserTest, KeepsControlCharactersFromTheTerminal) {
  EXPECT_THAT(FaultsOf("\x1b[2J\n"),
              ElementsAre("lab.net:1: unknown keyword \"?[2J\""));
  EXPECT_LT(FaultsOf(std::string(100000, '%'))[0].size(), 500u);
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
  const std::string path = Write(
      "lab.net", "Ca 1 \"a\"\n[1] \"b\"[1]\n\nCa 1 \"b\"\n[1] \"a\"[1]\n");
  std::vector<std::string> phases;
  const absl::StatusOr<Topology> topology = LoadTopology(
      path, [&](std::string_view phase, size_t done, size_t total) {
        EXPECT_LE(done, total);
        phases.emplace_back(phase);
      });
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ(topology->nodes.size(), 2u);
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

std::string Normal(std::string_view text) {
  return FormatIbnetdiscover(NormalizeTopology(Parse(text)));
}

// Several texts of one subnet.
std::vector<std::string> TextsOfOneSubnet() {
  std::vector<std::string> texts;
  for (const testing::GoldenCase& golden :
       testing::ReadGoldenCases("tests/topology/golden/net")) {
    if (golden.file == "same_subnet.txt") texts.push_back(golden.input);
  }
  return texts;
}

TEST(NormalizeTest, MakesTextsOfTheSameSubnetEqual) {
  const std::vector<std::string> texts = TextsOfOneSubnet();
  ASSERT_GE(texts.size(), 2u);
  for (const std::string& text : texts) {
    EXPECT_EQ(Normal(text), Normal(texts[0]));
  }
}

TEST(NormalizeTest, TellsSubnetsApart) {
  const std::string one = TextsOfOneSubnet().at(0);
  EXPECT_NE(Normal(absl::StrReplaceAll(one, {{"4xEDR", "4xHDR"}})),
            Normal(one));
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
