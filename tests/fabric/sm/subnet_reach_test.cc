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
    return {net_.subnet(), net_.IdOf(node, port)};
  }

  Lab net_{Chain(2)};
};

TEST_F(SubnetReachTest, HoldsHostsThenSwitches) {
  EXPECT_THAT(From("sw1", 0).ends(),
              ElementsAre(net_.IdOf("host-1", 1), net_.IdOf("host-2", 1),
                          net_.IdOf("sw1", 0), net_.IdOf("sw2", 0)));
}

TEST_F(SubnetReachTest, KnowsTheWay) {
  EXPECT_THAT(From("sw1", 0).PathTo(net_.IdOf("host-2", 1)),
              Optional(ElementsAre(2, 2)));
  EXPECT_THAT(From("host-1", 1).PathTo(net_.IdOf("host-2", 1)),
              Optional(ElementsAre(1, 2, 2)));
  EXPECT_THAT(From("sw1", 0).PathTo(net_.IdOf("sw1", 0)), Optional(IsEmpty()));
}

TEST_F(SubnetReachTest, EndsWhereALinkIsDown) {
  ASSERT_TRUE(net_.fabric.SetLink(net_.Find("sw2"), 1, false).ok());
  const SubnetReach reach = From("sw1", 0);
  EXPECT_THAT(reach.ends(), SizeIs(2));
  EXPECT_FALSE(reach.Contains(net_.IdOf("host-2", 1)));
  EXPECT_EQ(reach.PathTo(net_.IdOf("host-2", 1)), std::nullopt);
}

TEST_F(SubnetReachTest, ANodeThatIsOffReachesNothing) {
  net_.fabric.SetNode(net_.Find("sw1"), false);
  EXPECT_THAT(From("sw1", 0).ends(), IsEmpty());
}

TEST_F(SubnetReachTest, ADirectedRouteHas63Hops) {
  Lab net(Chain(64));
  const SubnetReach reach(net.subnet(), net.IdOf("sw1", 0));
  EXPECT_THAT(reach.PathTo(net.IdOf("sw64", 0)), Optional(SizeIs(63)));
  EXPECT_TRUE(reach.Contains(net.IdOf("host-2", 1)));
  EXPECT_EQ(reach.PathTo(net.IdOf("host-2", 1)), std::nullopt);
}

// Adapters pass nothing on.
TEST_F(SubnetReachTest, TheOtherPortOfAnAdapterIsAnotherSubnets) {
  Lab net(R"(
Ca 2 "a"
[1] "left"[1]
[2] "right"[1]

Switch 2 "left"
[1] "a"[1]

Switch 2 "right"
[1] "a"[2]
)");
  const SubnetReach reach(net.subnet(), net.IdOf("left", 0));
  EXPECT_TRUE(reach.Contains(net.IdOf("a", 1)));
  EXPECT_FALSE(reach.Contains(net.IdOf("a", 2)));
  EXPECT_FALSE(reach.Contains(net.IdOf("right", 0)));
}

}  // namespace
}  // namespace ibemu::fabric
