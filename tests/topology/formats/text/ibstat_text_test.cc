#include "topology/formats/text/ibstat_text.h"

#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/topology/topology_text.h"
#include "topology/formats/spec_reader.h"
#include "topology/formats/spec_writer.h"
#include "topology/generators.h"

namespace ibemu::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kOutput[] =
    "CA 'mlx5_0'\n\tCA type: MT4119\n\tNumber of ports: 2\n"
    "\tFirmware version: 16.35.4030\n\tHardware version: 0\n"
    "\tNode GUID: 0xb8cef60300fc1d5c\n\tSystem image GUID: 0xb8cef60300fc1d00\n"
    "\tPort 1:\n\t\tState: Active\n\t\tRate: 100\n"
    "\t\tPort GUID: 0xb8cef60300fc1d5c\n\t\tLink layer: InfiniBand\n"
    "\tPort 2:\n\t\tPort GUID: 0xb8cef60300fc1d5d\n"
    "\t\tLink layer: InfiniBand\n"
    "CA 'mlx5_1'\n\tNumber of ports: 1\n\tNode GUID: 0x77\n"
    "\tPort 1:\n\t\tLink layer: Ethernet\n";

TEST(IbstatTextTest, AdaptersAsTheyAreTold) {
  const auto adapters = ParseIbstat(kOutput, "ibstat");
  ASSERT_TRUE(adapters.ok()) << adapters.status();
  ASSERT_EQ(adapters->size(), 2u);
  const IbstatAdapter& first = adapters->front();
  EXPECT_EQ(first.name, "mlx5_0");
  EXPECT_EQ(first.label.firmware, "16.35.4030");
  EXPECT_EQ(first.label.hardware, "0");
  EXPECT_EQ(first.label.hca_type, "MT4119");
  EXPECT_EQ(first.port_count, 2);
  EXPECT_EQ(first.port_guids.at(2), wire::Guid{0xb8cef60300fc1d5d});
  EXPECT_FALSE(first.is_ethernet);
  EXPECT_TRUE(adapters->back().is_ethernet);
}

TEST(IbstatTextTest, LabelsGoToTheNodesOfTheirGuids) {
  auto topology = GenerateTopology("back-to-back");
  ASSERT_TRUE(topology.ok());
  auto adapters = ParseIbstat(kOutput, "ibstat");
  ASSERT_TRUE(adapters.ok());
  (*adapters)[0].node_guid = topology->nodes[1].node_guid;
  AddAdapters(*adapters, *topology);
  ASSERT_EQ(topology->nodes.size(), 2u);
  EXPECT_EQ(topology->nodes[0].label, nullptr);
  ASSERT_NE(topology->nodes[1].label, nullptr);
  EXPECT_EQ(topology->nodes[1].label->firmware, "16.35.4030");
  EXPECT_THAT(FormatSpecYaml(*topology), HasSubstr("hca_type: \"MT4119\""));
}

TEST(IbstatTextTest, AnAdapterWithoutACableIsANodeOfItsOwn) {
  Topology topology;
  AddAdapters(*ParseIbstat(kOutput, "ibstat"), topology);
  EXPECT_THAT(TopologyText(topology),
              StartsWith("ca H-b8cef60300fc1d5c, 2 ports, "));
  const auto again = ParseSpec(FormatSpecYaml(topology), "a.yaml");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_THAT(again->nodes[0].port_guids,
              ElementsAre(wire::Guid{0xb8cef60300fc1d5c},
                          wire::Guid{0xb8cef60300fc1d5d}));
}

TEST(IbstatTextTest, FaultsNamePlaceThingAndRule) {
  const auto faults = [](std::string_view text) {
    const auto adapters = ParseIbstat(text, "ibstat");
    return std::vector<std::string>(
        absl::StrSplit(adapters.status().message(), '\n'));
  };
  EXPECT_THAT(faults("\n"), ElementsAre(HasSubstr("ibstat:1: ibstat's output "
                                                  "tells no adapter")));
  EXPECT_THAT(faults("Node GUID: 1\nCA 'x'\nNode GUID: zz\n"),
              ElementsAre(HasSubstr("ibstat:1: this belongs to no adapter"),
                          HasSubstr("ibstat:2: \"x\" has no \"Node GUID\""),
                          HasSubstr("ibstat:3: Node GUID: \"zz\": it is")));
}

}  // namespace
}  // namespace ibemu::topology
