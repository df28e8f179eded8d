#include "fabric/routing/path_trace.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "testing/lab.h"
#include "topology/formats/load_topology.h"

namespace ibemu::fabric {
namespace {

using testing::Lab, testing::Chain;
using ::testing::SizeIs;

// host-1 – sw1 – sw2 – host-2.
class PathTraceTest : public ::testing::Test {
 protected:
  Subnet& subnet() { return lab_.subnet(); }
  PortId Port(topology::NodeId node, int number) {
    return subnet().port_id(node, number);
  }
  wire::Lid LidOf(topology::NodeId node) {
    return subnet().port(Port(node, 1)).info.lid;
  }
  PathTrace Trace() {
    return TracePath(subnet(), Port(lab_.Host(1), 1), LidOf(lab_.Host(2)));
  }

  Lab lab_{Chain(2), Lab::kStatically};
  const topology::NodeId first_ = lab_.Switch(1), second_ = lab_.Switch(2);
};

TEST_F(PathTraceTest, NamesEachNodeAndItsPorts) {
  const PathTrace trace = Trace();
  EXPECT_EQ(trace.end, std::nullopt);
  ASSERT_THAT(trace.hops, SizeIs(4));
  EXPECT_EQ(trace.hops[0].entry, kNoPort);
  EXPECT_EQ(trace.hops[0].exit, Port(lab_.Host(1), 1));
  EXPECT_EQ(trace.hops[1].entry, Port(first_, 1));
  EXPECT_EQ(trace.hops[1].exit, Port(first_, 2));
  EXPECT_EQ(trace.hops[2].entry, Port(second_, 1));
  EXPECT_EQ(trace.hops[3].entry, Port(lab_.Host(2), 1));
  EXPECT_EQ(trace.hops[3].exit, kNoPort);
}

TEST_F(PathTraceTest, BeginsAndEndsAtPort0OfASwitch) {
  const wire::Lid lid = subnet().port(Port(first_, 0)).info.lid;
  const PathTrace there = TracePath(subnet(), Port(lab_.Host(1), 1), lid);
  EXPECT_EQ(there.end, std::nullopt);
  EXPECT_THAT(there.hops, SizeIs(2));
  const PathTrace back =
      TracePath(subnet(), Port(first_, 0), LidOf(lab_.Host(1)));
  EXPECT_EQ(back.end, std::nullopt);
  EXPECT_THAT(back.hops, SizeIs(2));
}

TEST_F(PathTraceTest, ToItselfCrossesNothing) {
  const PathTrace trace =
      TracePath(subnet(), Port(lab_.Host(1), 1), LidOf(lab_.Host(1)));
  EXPECT_EQ(trace.end, std::nullopt);
  EXPECT_THAT(trace.hops, SizeIs(1));
}

TEST_F(PathTraceTest, EndsAtALinkThatIsDown) {
  lab_.SetLink(first_, 2, false);
  const PathTrace trace = Trace();
  EXPECT_EQ(trace.end, DropCause::kLinkDown);
  ASSERT_THAT(trace.hops, SizeIs(2));
  EXPECT_EQ(trace.hops[1].exit, Port(first_, 2));
}

TEST_F(PathTraceTest, EndsWhereThereIsNoEntry) {
  subnet().node(second_).sw->linear.Set(LidOf(lab_.Host(2)),
                                        LinearTable::kNoPort);
  const PathTrace trace = Trace();
  EXPECT_EQ(trace.end, DropCause::kNoRoute);
  ASSERT_THAT(trace.hops, SizeIs(3));
  EXPECT_EQ(trace.hops[2].entry, Port(second_, 1));
}

TEST_F(PathTraceTest, EndsWhereItWouldGoBack) {
  subnet().node(second_).sw->linear.Set(LidOf(lab_.Host(2)), 1);
  EXPECT_EQ(Trace().end, DropCause::kLooping);
}

TEST_F(PathTraceTest, EndsAtAnotherHost) {
  subnet().node(first_).sw->linear.Set(LidOf(lab_.Host(2)), 1);
  const PathTrace trace =
      TracePath(subnet(), Port(second_, 0), LidOf(lab_.Host(2)));
  EXPECT_EQ(trace.end, std::nullopt) << "it does not pass the first switch";
  EXPECT_EQ(TracePath(subnet(), Port(first_, 0), LidOf(lab_.Host(2))).end,
            DropCause::kNotOurs);
}

TEST_F(PathTraceTest, EndsAtANodeThatIsOff) {
  lab_.fabric.SetNode(lab_.Host(1), false);
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
