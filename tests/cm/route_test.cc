// Paths as ways out of a port.
#include "cm/route.h"

#include "gtest/gtest.h"
#include "testing/fake_device.h"

namespace ibemu::cm {
namespace {

class RouteTest : public ::testing::Test {
 protected:
  RouteTest() {
    device_.port(1).gids = {{0xfe80, 1}};
    device_.port(2).gids = {{0xfe80, 2}, {0xfe80, 3}};
    device_.port(2).info.lid = wire::Lid{8};
    device_.port(2).info.lmc = 2;
    device_.port(2).pkeys = {0x7fff, 0x8001, 0xffff, 0};
  }

  testing::FakeDevice device_{2};
  mad::PathRecord path_{.dgid = {0xfe80, 9},
                        .sgid = {0xfe80, 3},
                        .dlid = wire::Lid{5},
                        .slid = wire::Lid{10},
                        .flow_label = 0x12345,
                        .traffic_class = 6,
                        .p_key = 0xffff,
                        .sl = 4,
                        .mtu = 3,
                        .rate = 7,
                        .packet_life_time = 18};
};

TEST_F(RouteTest, APathLeavesThePortWithItsSgid) {
  const absl::StatusOr<Route> route = RouteOf(device_, path_);
  ASSERT_TRUE(route.ok()) << route.status();
  EXPECT_EQ(route->port, 2);
  EXPECT_EQ(route->to.dlid, wire::Lid{5});
  EXPECT_EQ(route->to.sl, 4);
  EXPECT_EQ(route->to.path_bits, 2);  // LID 10 of 8 to 11
  EXPECT_EQ(route->to.qpn, 1u);
  EXPECT_EQ(route->to.qkey, mad::kQp1QKey);
  EXPECT_EQ(route->static_rate, 7);
  EXPECT_EQ(route->mtu, 3);
  EXPECT_EQ(route->packet_life_time, 18);
  EXPECT_FALSE(route->to.grh.has_value());
}

TEST_F(RouteTest, AHopLimitMakesAGlobalRoute) {
  path_.hop_limit = 1;
  const absl::StatusOr<Route> route = RouteOf(device_, path_);
  ASSERT_TRUE(route.ok()) << route.status();
  ASSERT_TRUE(route->to.grh.has_value());
  EXPECT_EQ(*route->to.grh, (mad::GlobalRoute{.gid = {0xfe80, 9},
                                              .flow_label = 0x12345,
                                              .gid_index = 1,
                                              .hop_limit = 1,
                                              .traffic_class = 6}));
}

TEST_F(RouteTest, AFullMembersPKeyIsPreferred) {
  EXPECT_EQ(RouteOf(device_, path_)->to.pkey_index, 2);
  path_.p_key = 0x7fff;
  EXPECT_EQ(RouteOf(device_, path_)->to.pkey_index, 2);
  path_.p_key = 0x0001;
  EXPECT_EQ(RouteOf(device_, path_)->to.pkey_index, 1);
  device_.port(2).pkeys = {0x7fff};
  path_.p_key = 0xffff;
  EXPECT_EQ(RouteOf(device_, path_)->to.pkey_index, 0);
}

TEST_F(RouteTest, AStrangeGidOrPKeyIsAnError) {
  path_.p_key = 0x9999;
  EXPECT_EQ(RouteOf(device_, path_).status().code(),
            absl::StatusCode::kInvalidArgument);
  path_.p_key = 0;
  EXPECT_EQ(RouteOf(device_, path_).status().code(),
            absl::StatusCode::kInvalidArgument);
  path_.p_key = 0xffff;
  path_.sgid = {0xfe80, 4};
  EXPECT_EQ(RouteOf(device_, path_).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace ibemu::cm
