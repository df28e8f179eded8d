#include "fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

struct FabricTest : ::testing::Test {
  FabricTest() : row(2) {}
  RowFabric row;
};

TEST_F(FabricTest, FindsNodesByDescriptionNameAndGuid) {
  topology::Topology topology = Row(1);
  topology.nodes[0].description = "node-1";
  topology.nodes[2].description = "sw1";  // as the switch's name
  Fabric fabric(topology, row.timers, {});
  EXPECT_EQ(*fabric.Find("node-1"), topology::NodeId{0});
  EXPECT_EQ(*fabric.Find("host-1"), topology::NodeId{0}) << "name of the file";
  EXPECT_EQ(*fabric.Find("0x2000"), topology::NodeId{2});
  EXPECT_EQ(*fabric.Find("0x2001"), topology::NodeId{2}) << "a port's GUID";
  EXPECT_EQ(*fabric.Find("sw1"), topology::NodeId{1})
      << "both have it, but one by its name in the file";
}

TEST_F(FabricTest, FindsANodeByTheDescriptionThatItHadInTheTopology) {
  topology::Topology topology = Row(1);
  topology.nodes[0].description = "node-1";
  Fabric fabric(topology, row.timers, {});
  mad::Device& device = fabric.device(topology::NodeId{0});
  device.SetNodeDescription("srv9 mlx5_0");
  device.SetNodeDescription("srv8 mlx5_0\n");
  EXPECT_EQ(*fabric.Find("node-1"), topology::NodeId{0});
  EXPECT_EQ(*fabric.Find("host-1"), topology::NodeId{0});
  EXPECT_EQ(*fabric.Find("srv8 mlx5_0"), topology::NodeId{0})
      << "without its line end";
  EXPECT_FALSE(fabric.Find("srv9 mlx5_0").ok());
  fabric.device(topology::NodeId{2}).SetNodeDescription("node-1");
  EXPECT_EQ(*fabric.Find("node-1"), topology::NodeId{2})
      << "what it is called now comes first";
}

TEST_F(FabricTest, SaysThatSeveralNodesHaveADescription) {
  topology::Topology topology = Row(1);
  topology.nodes[0].description = topology.nodes[2].description = "srv";
  const Fabric fabric(topology, row.timers, {});
  EXPECT_EQ(fabric.Find("srv").status(),
            absl::InvalidArgumentError(
                "2 nodes are called \"srv\": write one's GUID instead: "
                "0x0000000000001000, 0x0000000000002000"));
  EXPECT_EQ(fabric.FindHost("srv").status(), fabric.Find("srv").status());
}

TEST_F(FabricTest, FindsTheAdaptersOfAHost) {
  topology::Topology topology = Row(2);
  topology.nodes[0].description = "srv9 mlx5_0";
  topology.nodes[3].description = "srv9 mlx5_1";
  topology.nodes[1].description = "srv9 switch";
  topology.nodes[2].description = "srv9 of another room";
  Fabric fabric(topology, row.timers, {});
  EXPECT_EQ(*fabric.FindHost("srv9"),
            (std::vector{topology::NodeId{0}, topology::NodeId{3}}));
  EXPECT_EQ(fabric.FindHost("srv9 mlx5_1")->size(), 1u);
  EXPECT_EQ(fabric.FindHost("srv").status().code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(fabric.Find("srv9").status(),
            absl::InvalidArgumentError("\"srv9\" has several adapters: name "
                                       "one, as in \"srv9 mlx5_0\""));
  fabric.device(topology::NodeId{3}).SetNodeDescription("srv8 mlx5_0");
  EXPECT_EQ(*fabric.Find("srv9"), topology::NodeId{0}) << "its only one";
}

TEST_F(FabricTest, SuggestsANodeForAMistypedOne) {
  const auto found = row.fabric.Find("hosst-2");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(found.status().message(),
            "no node \"hosst-2\": did you mean \"host-2\"?");
  EXPECT_FALSE(row.fabric.Find("0x99").ok());
  EXPECT_FALSE(row.fabric.Find("").ok());
}

TEST_F(FabricTest, NamesWhatIsWrongWithALink) {
  EXPECT_EQ(row.fabric.SetLink(RowFabric::Switch(1), 9, false).message(),
            "port 9 of \"sw1\" does not exist: it has ports 1 to 8");
  EXPECT_EQ(row.fabric.SetLink(RowFabric::Switch(1), 0, false).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(row.fabric.SetLink(RowFabric::Switch(1), 5, false).message(),
            "port 5 of \"sw1\" has no cable");
}

TEST_F(FabricTest, AnAdapterIsEitherInOrOut) {
  EXPECT_EQ(row.fabric.AddDevice(row.host_1).message(),
            "the device of \"host-1\" is there already");
  EXPECT_TRUE(row.fabric.RemoveDevice(row.host_1).ok());
  EXPECT_EQ(row.fabric.RemoveDevice(row.host_1).message(),
            "the device of \"host-1\" is removed already");
  EXPECT_TRUE(row.fabric.AddDevice(row.host_1).ok());
}

TEST_F(FabricTest, CountsWhatCrossedIt) {
  row.Configure();
  row.Send(LidGet(0, mad::MgmtClass::kSubnetLidRouted, wire::Lid{2},
                  mad::AttributeId::kNodeInfo));
  EXPECT_EQ(row.fabric.totals().sent, 2u);
  EXPECT_EQ(row.fabric.totals().hops, 6u);
  EXPECT_EQ(row.fabric.totals().delivered, 2u);
  EXPECT_EQ(row.fabric.totals().dropped, 0u);
}

TEST_F(FabricTest, LeavesNoTaskBehindThatTouchesIt) {
  testing::VirtualTimers timers;
  {
    Fabric fabric(Row(0), timers, {});
    ASSERT_TRUE(fabric.device(topology::NodeId{0})
                    .port(1)
                    .Transmit(DirectedGet(mad::AttributeId::kNodeInfo, {1}))
                    .ok());
  }
  timers.RunPending();
  EXPECT_TRUE(timers.idle());
}

TEST_F(FabricTest, GivesThePortsOfAFreeEndTheRateOfTheirNode) {
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 7).info.link_speed_ext_supported,
            row.PortOf(RowFabric::Switch(1), 1).info.link_speed_ext_supported);
}

}  // namespace
}  // namespace ibemu::fabric
