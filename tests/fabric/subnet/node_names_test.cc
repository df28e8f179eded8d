#include "fabric/subnet/node_names.h"

#include <gtest/gtest.h>

#include <vector>

#include "testing/topologies.h"

namespace ibemu::fabric {
namespace {

using testing::Chain;

TEST(NodeNamesTest, FindsNodesByDescriptionNameAndGuid) {
  topology::Topology topology = Chain(1);
  topology.nodes[0].description = "node-1";
  topology.nodes[2].description = "sw1";  // as the switch's name
  const Subnet subnet(topology);
  const NodeNames names(subnet);
  EXPECT_EQ(*names.Find("node-1"), topology::NodeId{0});
  EXPECT_EQ(*names.Find("host-1"), topology::NodeId{0}) << "name of the file";
  EXPECT_EQ(*names.Find("0x2000"), topology::NodeId{2});
  EXPECT_EQ(*names.Find("0x2001"), topology::NodeId{2}) << "a port's GUID";
  EXPECT_EQ(*names.Find("sw1"), topology::NodeId{1})
      << "both have it, but one by its name in the file";
}

TEST(NodeNamesTest, SaysThatSeveralNodesHaveADescription) {
  topology::Topology topology = Chain(1);
  topology.nodes[0].description = topology.nodes[2].description = "srv";
  const Subnet subnet(topology);
  const NodeNames names(subnet);
  EXPECT_EQ(names.Find("srv").status(),
            absl::InvalidArgumentError(
                "2 nodes are called \"srv\": write one's GUID instead: "
                "0x0000000000001000, 0x0000000000002000"));
  EXPECT_EQ(names.FindHost("srv").status(), names.Find("srv").status());
}

TEST(NodeNamesTest, FindsTheAdaptersOfAHost) {
  topology::Topology topology = Chain(2);
  topology.nodes[0].description = "srv9 mlx5_0";
  topology.nodes[3].description = "srv9 mlx5_1";
  topology.nodes[1].description = "srv9 switch";
  topology.nodes[2].description = "srv9 of another room";
  Subnet subnet(topology);
  const NodeNames names(subnet);
  EXPECT_EQ(*names.FindHost("srv9"),
            (std::vector{topology::NodeId{0}, topology::NodeId{3}}));
  EXPECT_EQ(names.FindHost("srv9 mlx5_1")->size(), 1u);
  EXPECT_EQ(names.FindHost("srv").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(names.Find("srv9").status(),
            absl::InvalidArgumentError("\"srv9\" has several adapters: name "
                                       "one, as in \"srv9 mlx5_0\""));
  subnet.node(topology::NodeId{3}).description = "srv8 mlx5_0\n";
  EXPECT_EQ(*names.Find("srv8 mlx5_0"), topology::NodeId{3})
      << "without its line end";
  EXPECT_EQ(*names.Find("srv9"), topology::NodeId{0}) << "its only one";
}

TEST(NodeNamesTest, SuggestsANodeForAMistypedOne) {
  const Subnet subnet(Chain(2));
  const NodeNames names(subnet);
  const auto found = names.Find("hosst-2");
  EXPECT_EQ(found.status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(found.status().message(),
            "no node \"hosst-2\": did you mean \"host-2\"?");
  EXPECT_FALSE(names.Find("0x99").ok());
  EXPECT_FALSE(names.Find("").ok());
}

}  // namespace
}  // namespace ibemu::fabric
