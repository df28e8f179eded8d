#include "fabric/path_trace.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/fabric/small_fabric.h"
#include "topology/formats/load_topology.h"

namespace ibemu::fabric {
namespace {

using ::testing::SizeIs;

// host-1 – sw1 – sw2 – host-2.
class PathTraceTest : public ::testing::Test {
 protected:
  PathTraceTest() { row_.Configure(); }

  Subnet& subnet() { return row_.fabric.subnet(); }
  PortId Port(topology::NodeId node, int number) {
    return subnet().port_id(node, number);
  }
  wire::Lid LidOf(topology::NodeId node) {
    return subnet().port(Port(node, 1)).info.lid;
  }
  PathTrace Trace() {
    return TracePath(subnet(), Port(row_.host_1, 1), LidOf(row_.host_2));
  }

  RowFabric row_{2};
  const topology::NodeId first_ = RowFabric::Switch(1),
                         second_ = RowFabric::Switch(2);
};

TEST_F(PathTraceTest, NamesEachNodeAndItsPorts) {
  const PathTrace trace = Trace();
  EXPECT_EQ(trace.end, std::nullopt);
  ASSERT_THAT(trace.hops, SizeIs(4));
  EXPECT_EQ(trace.hops[0].entry, kNoPort);
  EXPECT_EQ(trace.hops[0].exit, Port(row_.host_1, 1));
  EXPECT_EQ(trace.hops[1].entry, Port(first_, 1));
  EXPECT_EQ(trace.hops[1].exit, Port(first_, 2));
  EXPECT_EQ(trace.hops[2].entry, Port(second_, 1));
  EXPECT_EQ(trace.hops[3].entry, Port(row_.host_2, 1));
  EXPECT_EQ(trace.hops[3].exit, kNoPort);
}

TEST_F(PathTraceTest, BeginsAndEndsAtPort0OfASwitch) {
  const wire::Lid lid = subnet().port(Port(first_, 0)).info.lid;
  const PathTrace there = TracePath(subnet(), Port(row_.host_1, 1), lid);
  EXPECT_EQ(there.end, std::nullopt);
  EXPECT_THAT(there.hops, SizeIs(2));
  const PathTrace back =
      TracePath(subnet(), Port(first_, 0), LidOf(row_.host_1));
  EXPECT_EQ(back.end, std::nullopt);
  EXPECT_THAT(back.hops, SizeIs(2));
}

TEST_F(PathTraceTest, ToItselfCrossesNothing) {
  const PathTrace trace =
      TracePath(subnet(), Port(row_.host_1, 1), LidOf(row_.host_1));
  EXPECT_EQ(trace.end, std::nullopt);
  EXPECT_THAT(trace.hops, SizeIs(1));
}

TEST_F(PathTraceTest, EndsAtALinkThatIsDown) {
  ASSERT_TRUE(row_.fabric.SetLink(first_, 2, false).ok());
  const PathTrace trace = Trace();
  EXPECT_EQ(trace.end, DropCause::kLinkDown);
  ASSERT_THAT(trace.hops, SizeIs(2));
  EXPECT_EQ(trace.hops[1].exit, Port(first_, 2));
}

TEST_F(PathTraceTest, EndsWhereThereIsNoEntry) {
  subnet().node(second_).sw->linear.Set(LidOf(row_.host_2),
                                        LinearTable::kNoPort);
  const PathTrace trace = Trace();
  EXPECT_EQ(trace.end, DropCause::kNoRoute);
  ASSERT_THAT(trace.hops, SizeIs(3));
  EXPECT_EQ(trace.hops[2].entry, Port(second_, 1));
}

TEST_F(PathTraceTest, EndsWhereItWouldGoBack) {
  subnet().node(second_).sw->linear.Set(LidOf(row_.host_2), 1);
  EXPECT_EQ(Trace().end, DropCause::kLooping);
}

TEST_F(PathTraceTest, EndsAtAnotherHost) {
  subnet().node(first_).sw->linear.Set(LidOf(row_.host_2), 1);
  const PathTrace trace =
      TracePath(subnet(), Port(second_, 0), LidOf(row_.host_2));
  EXPECT_EQ(trace.end, std::nullopt) << "it does not pass the first switch";
  EXPECT_EQ(TracePath(subnet(), Port(first_, 0), LidOf(row_.host_2)).end,
            DropCause::kNotOurs);
}

TEST_F(PathTraceTest, EndsAtANodeThatIsOff) {
  row_.fabric.SetNode(row_.host_1, false);
  EXPECT_EQ(Trace().end, DropCause::kNodeDown);
}

TEST(PathTraceInARingTest, EndsWhereItHasBeenBefore) {
  ibemu::testing::VirtualTimers timers;
  Fabric fabric(topology::LoadTopology("torus:4,hosts=1").value(), timers, {});
  ASSERT_TRUE(ConfigureStatically(fabric).ok());
  timers.RunFor(absl::Seconds(1));
  Subnet& subnet = fabric.subnet();
  const wire::Lid nobodys{1000};
  PortId from = kNoPort;
  for (Node& node : subnet.nodes()) {
    if (!node.is_switch()) {
      from = subnet.port_id(node, 1);
      continue;
    }
    node.sw->info.linear_fdb_top = 1000;
    node.sw->linear.Set(nobodys, 1);  // always to +x
  }
  const PathTrace trace = TracePath(subnet, from, nobodys);
  EXPECT_EQ(trace.end, DropCause::kHopLimit);
  EXPECT_THAT(trace.hops, SizeIs(6)) << "the host, the circle, and its end";
}

}  // namespace
}  // namespace ibemu::fabric
