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
