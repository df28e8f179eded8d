#include "fabric/sm/subnet_reach.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::Optional,
    ::testing::SizeIs;
using testing::Lab, testing::Chain;

// host-1 - sw1 - sw2 - host-2
class SubnetReachTest : public ::testing::Test {
 protected:
  SubnetReach From(std::string_view node, int port) {
    return {lab_.subnet(), lab_.IdOf(node, port)};
  }

  Lab lab_{Chain(2)};
};

TEST_F(SubnetReachTest, HoldsHostsThenSwitches) {
  EXPECT_THAT(From("sw1", 0).ends(),
              ElementsAre(lab_.IdOf("host-1", 1), lab_.IdOf("host-2", 1),
                          lab_.IdOf("sw1", 0), lab_.IdOf("sw2", 0)));
}

TEST_F(SubnetReachTest, KnowsTheWay) {
  EXPECT_THAT(From("sw1", 0).PathTo(lab_.IdOf("host-2", 1)),
              Optional(ElementsAre(2, 2)));
  EXPECT_THAT(From("host-1", 1).PathTo(lab_.IdOf("host-2", 1)),
              Optional(ElementsAre(1, 2, 2)));
  EXPECT_THAT(From("sw1", 0).PathTo(lab_.IdOf("sw1", 0)), Optional(IsEmpty()));
}

TEST_F(SubnetReachTest, EndsWhereALinkIsDown) {
  lab_.SetLink(lab_.Find("sw2"), 1, false);
  const SubnetReach reach = From("sw1", 0);
  EXPECT_THAT(reach.ends(), SizeIs(2));
  EXPECT_FALSE(reach.Contains(lab_.IdOf("host-2", 1)));
  EXPECT_EQ(reach.PathTo(lab_.IdOf("host-2", 1)), std::nullopt);
}

TEST_F(SubnetReachTest, ANodeThatIsOffReachesNothing) {
  lab_.fabric.SetNode(lab_.Find("sw1"), false);
  EXPECT_THAT(From("sw1", 0).ends(), IsEmpty());
}

TEST_F(SubnetReachTest, ADirectedRouteHas63Hops) {
  Lab lab(Chain(64));
  const SubnetReach reach(lab.subnet(), lab.IdOf("sw1", 0));
  EXPECT_THAT(reach.PathTo(lab.IdOf("sw64", 0)), Optional(SizeIs(63)));
  EXPECT_TRUE(reach.Contains(lab.IdOf("host-2", 1)));
  EXPECT_EQ(reach.PathTo(lab.IdOf("host-2", 1)), std::nullopt);
}

// Adapters pass nothing on.
TEST_F(SubnetReachTest, TheOtherPortOfAnAdapterIsAnotherSubnets) {
  Lab lab(R"(
Ca 2 "a"
[1] "left"[1]
[2] "right"[1]

Switch 2 "left"
[1] "a"[1]

Switch 2 "right"
[1] "a"[2]
)");
  const SubnetReach reach(lab.subnet(), lab.IdOf("left", 0));
  EXPECT_TRUE(reach.Contains(lab.IdOf("a", 1)));
  EXPECT_FALSE(reach.Contains(lab.IdOf("a", 2)));
  EXPECT_FALSE(reach.Contains(lab.IdOf("right", 0)));
}

}  // namespace
}  // namespace ibemu::fabric
