// Subnet management packets that find their way by port numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::Lid, mad::Method, mad::NodeInfo, mad::Smp;

NodeInfo NodeInfoIn(const mad::Arrival& arrival) {
  return wire::Decode<NodeInfo>(
      std::span(arrival.mad).subspan(mad::kSmpDataOffset));
}

TEST(DirectedRouteTest, ReachesEachNodeOfAnUnconfiguredRow) {
  RowFabric row(3);
  EXPECT_EQ(NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1}))[0])
                .node_guid,
            mad::Guid{0x5010});
  EXPECT_EQ(NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2}))[0])
                .node_guid,
            mad::Guid{0x5020});
  EXPECT_EQ(
      NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 2, 2}))[0])
          .node_guid,
      mad::Guid{0x2000});
}

TEST(DirectedRouteTest, ComesBackWithTheReturnPathAndHopPointerZero) {
  RowFabric row(3);
  const auto answers =
      row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 2, 2}));
  ASSERT_EQ(answers.size(), 1u);
  const Smp smp = wire::Decode<Smp>(answers[0].mad);
  EXPECT_EQ(smp.method, Method::kGetResp);
  EXPECT_TRUE(smp.direction);
  EXPECT_EQ(smp.hop_pointer, 0);
  EXPECT_EQ(smp.return_path[1], 1);
  EXPECT_EQ(smp.return_path[4], 1);
  EXPECT_EQ(answers[0].slid, Lid::kPermissive);
  EXPECT_EQ(answers[0].source_qpn, 0u);
}

TEST(DirectedRouteTest, NamesThePortThatASwitchReceivedItBy) {
  RowFabric row(2);
  EXPECT_EQ(NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2}))[0])
                .local_port_num,
            1);
}

}  // namespace
}  // namespace ibemu::fabric
