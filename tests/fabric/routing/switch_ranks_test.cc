#include "fabric/routing/switch_ranks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using ::testing::IsEmpty;
using testing::Lab;

uint16_t RankOf(Lab& lab, std::string_view node) {
  return RankSwitches(lab.subnet())[static_cast<size_t>(lab.Find(node))];
}

TEST(SwitchRanksTest, CountsTheCablesToTheNearestHost) {
  Lab lab("fat-tree:radix=4,levels=2");
  EXPECT_EQ(RankOf(lab, "leaf-1"), 0);
  EXPECT_EQ(RankOf(lab, "spine-2"), 1);
}

TEST(SwitchRanksTest, ACutTurnsNothingUpsideDown) {
  Lab lab("fat-tree:radix=4,levels=2");
  const std::vector<uint16_t> before = RankSwitches(lab.subnet());
  lab.fabric.SetNode(lab.Find("node-1"), false);
  lab.fabric.SetNode(lab.Find("node-2"), false);
  lab.fabric.SetNode(lab.Find("spine-1"), false);
  EXPECT_EQ(RankSwitches(lab.subnet()), before);
}

TEST(SwitchRanksTest, WhereHostsAreEverywhereThereIsNeitherUpNorDown) {
  for (const char* spec : {"torus:3x3", "torus:5", "dragonfly:a=4"}) {
    Lab lab(spec);
    EXPECT_THAT(RankSwitches(lab.subnet()), IsEmpty()) << spec;
  }
}

TEST(SwitchRanksTest, ASwitchThatLeadsToNoHostHasNone) {
  Lab lab(R"(
Switch 2 "a"
[1] "b"[1]

Switch 2 "b"
[1] "a"[1]
)");
  EXPECT_THAT(RankSwitches(lab.subnet()), IsEmpty());
}

}  // namespace
}  // namespace ibemu::fabric
