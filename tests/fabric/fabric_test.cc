#include "fabric/fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using testing::Lab, testing::Chain, testing::DirectedGet, testing::LidGet;

struct FabricTest : ::testing::Test {
  FabricTest() {}
  Lab lab{Chain(2)};
};

TEST_F(FabricTest, FindsANodeByTheDescriptionThatItHadInTheTopology) {
  topology::Topology topology = Chain(1);
  topology.nodes[0].description = "node-1";
  Fabric fabric(topology, lab.timers, {});
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
  EXPECT_EQ(lab.fabric.SetLink(lab.Switch(1), 9, false).message(),
            "port 9 of \"sw1\" does not exist: it has ports 1 to 8");
  EXPECT_EQ(lab.fabric.SetLink(lab.Switch(1), 0, false).code(),
            absl::StatusCode::kNotFound);
  EXPECT_EQ(lab.fabric.SetLink(lab.Switch(1), 5, false).message(),
            "port 5 of \"sw1\" has no cable");
}

TEST_F(FabricTest, AnAdapterIsEitherInOrOut) {
  EXPECT_EQ(lab.fabric.AddDevice(lab.Host(1)).message(),
            "the device of \"host-1\" is there already");
  EXPECT_TRUE(lab.fabric.RemoveDevice(lab.Host(1)).ok());
  EXPECT_EQ(lab.fabric.RemoveDevice(lab.Host(1)).message(),
            "the device of \"host-1\" is removed already");
  EXPECT_TRUE(lab.fabric.AddDevice(lab.Host(1)).ok());
}

TEST_F(FabricTest, CountsWhatCrossedIt) {
  lab.Configure();
  lab.Send(LidGet(0, mad::MgmtClass::kSubnetLidRouted, wire::Lid{2},
                  mad::AttributeId::kNodeInfo));
  EXPECT_EQ(lab.fabric.totals().sent, 2u);
  EXPECT_EQ(lab.fabric.totals().hops, 6u);
  EXPECT_EQ(lab.fabric.totals().delivered, 2u);
  EXPECT_EQ(lab.fabric.totals().dropped, 0u);
}

TEST_F(FabricTest, LeavesNoTaskBehindThatTouchesIt) {
  testing::VirtualTimers timers;
  {
    Fabric fabric(Chain(0), timers, {});
    ASSERT_TRUE(fabric.device(topology::NodeId{0})
                    .port(1)
                    .Transmit(DirectedGet(mad::AttributeId::kNodeInfo, {1}))
                    .ok());
  }
  timers.RunPending();
  EXPECT_TRUE(timers.idle());
}

TEST_F(FabricTest, GivesThePortsOfAFreeEndTheRateOfTheirNode) {
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 7).info.link_speed_ext_supported,
            lab.PortOf(lab.Switch(1), 1).info.link_speed_ext_supported);
}

}  // namespace
}  // namespace ibemu::fabric
