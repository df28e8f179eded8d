// What each text in golden/ is read as: README.md there.
#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "testing/golden.h"
#include "testing/golden_cases.h"
#include "tests/topology/topology_text.h"
#include "topology/formats/formats.h"
#include "topology/formats/load_topology.h"
#include "topology/formats/system_library.h"
#include "topology/generators.h"
#include "topology/ibnetdiscover_writer.h"

namespace ibemu::topology {
namespace {

using ::ibemu::testing::GoldenCase;

constexpr char kGolden[] = "tests/topology/golden";

// The systems that .topo files name: those of topo/*.ibnl.
SystemLibrary GoldenSystems() {
  SystemLibrary systems;
  for (const char* name : {"Box.ibnl", "Deep.ibnl", "Ever.ibnl", "Odd.ibnl"}) {
    std::ifstream file =
        testing::OpenGolden(absl::StrCat(kGolden, "/topo/", name));
    systems.AddText(std::string(std::istreambuf_iterator<char>(file), {}),
                    name);
  }
  systems.AddSmallSystems();
  return systems;
}

absl::StatusOr<Topology> ReadCase(const GoldenCase& golden) {
  const std::string folder = golden.file.substr(0, golden.file.find('/'));
  if (folder == "generators") {
    return GenerateTopology(golden.input.substr(0, golden.input.find('\n')));
  }
  if (folder == "topo") {
    SystemLibrary systems = GoldenSystems();
    return ParseIbdmTopology(golden.input, "lab.topo", systems);
  }
  return ParseTopology(golden.input, "lab." + folder);
}

struct Writer {
  std::string_view what;
  std::string (*write)(const Topology&);
  std::string_view ending;  // of files that can be read again; else empty
};
constexpr Writer kWriters[] = {
    {"topology", TopologyText, ""},
    {"ibnetdiscover", FormatIbnetdiscover, ".net"},
    {"dot", FormatDot, ".dot"},
    {"json", FormatSpecJson, ".json"},
    {"yaml", FormatSpecYaml, ".yaml"},
    {"slurm", FormatSlurm, ""},
};

// The expectations of a case, as they are and not as they should be.
std::string Actual(const GoldenCase& golden) {
  const absl::StatusOr<Topology> topology = ReadCase(golden);
  if (!topology.ok()) {
    EXPECT_EQ(topology.status().code(), absl::StatusCode::kInvalidArgument);
    return "--- faults\n" + std::string(topology.status().message()) + "\n";
  }
  if (golden.expected.empty()) {
    return "--- topology\n" + TopologyText(*topology);
  }
  std::string text;
  for (const auto& [what, unused] : golden.expected) {
    text += "--- " + what + "\n";
    const auto* writer = std::ranges::find(kWriters, what, &Writer::what);
    text += writer == std::end(kWriters) ? "(nothing is written so)\n"
                                         : writer->write(*topology);
  }
  return text;
}

std::vector<GoldenCase> AllCases() { return testing::ReadGoldenCases(kGolden); }

// Those that describe a subnet.
std::vector<GoldenCase> SoundCases() {
  std::vector<GoldenCase> sound = AllCases();
  std::erase_if(sound, [](const GoldenCase& golden) {
    return golden.expected.empty() || golden.expected[0].what == "faults";
  });
  return sound;
}

std::string NameOf(const ::testing::TestParamInfo<GoldenCase>& info) {
  return info.param.TestName();
}

class TopologyGoldenTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(TopologyGoldenTest, IsReadAsTheFileSays) {
  std::string expected;
  for (const auto& [what, text] : GetParam().expected) {
    absl::StrAppend(&expected, "--- ", what, "\n", text);
  }
  const std::string actual = Actual(GetParam());
  EXPECT_EQ(actual, expected)
      << kGolden << "/" << GetParam() << ": it reads as\n"
      << actual;
}

INSTANTIATE_TEST_SUITE_P(Cases, TopologyGoldenTest,
                         ::testing::ValuesIn(AllCases()), NameOf);

class SoundTopologyTest : public ::testing::TestWithParam<GoldenCase> {};

TEST_P(SoundTopologyTest, WhatIsWrittenOfItReadsTheSame) {
  const absl::StatusOr<Topology> topology = ReadCase(GetParam());
  ASSERT_TRUE(topology.ok()) << topology.status();
  for (const auto& [what, write, ending] : kWriters) {
    if (ending.empty()) continue;
    const std::string text = write(*topology);
    const absl::StatusOr<Topology> again =
        ParseTopology(text, "again" + std::string(ending));
    ASSERT_TRUE(again.ok()) << text << again.status();
    EXPECT_EQ(write(*again), text);
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, SoundTopologyTest,
                         ::testing::ValuesIn(SoundCases()), NameOf);

}  // namespace
}  // namespace ibemu::topology
