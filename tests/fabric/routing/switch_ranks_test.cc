#include "fabric/routing/switch_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/net.h"
#include "topology/formats/load_topology.h"

namespace ibemu::fabric {
namespace {

using ::testing::IsEmpty;

uint16_t RankOf(Net& net, std::string_view node) {
  return RankSwitches(net.subnet())[static_cast<size_t>(net.Find(node))];
}

TEST(SwitchRanksTest, CountsTheCablesToTheNearestHost) {
  Net net(Generated("fat-tree:radix=4,levels=2"));
  EXPECT_EQ(RankOf(net, "leaf-1"), 0);
  EXPECT_EQ(RankOf(net, "spine-2"), 1);
}

TEST(SwitchRanksTest, ACutTurnsNothingUpsideDown) {
  Net net(Generated("fat-tree:radix=4,levels=2"));
  const std::vector<uint16_t> before = RankSwitches(net.subnet());
  net.fabric.SetNode(net.Find("node-1"), false);
  net.fabric.SetNode(net.Find("node-2"), false);
  net.fabric.SetNode(net.Find("spine-1"), false);
  EXPECT_EQ(RankSwitches(net.subnet()), before);
}

TEST(SwitchRanksTest, WhereHostsAreEverywhereThereIsNeitherUpNorDown) {
  for (const char* spec : {"torus:3x3", "torus:5", "dragonfly:a=4"}) {
    Net net(Generated(spec));
    EXPECT_THAT(RankSwitches(net.subnet()), IsEmpty()) << spec;
  }
}

TEST(SwitchRanksTest, ASwitchThatLeadsToNoHostHasNone) {
  Net net(*topology::ParseTopology(R"(
Switch 2 "a"
[1] "b"[1]

Switch 2 "b"
[1] "a"[1]
)",
                                   "lab.net"));
  EXPECT_THAT(RankSwitches(net.subnet()), IsEmpty());
}

}  // namespace
}  // namespace ibemu::fabric
