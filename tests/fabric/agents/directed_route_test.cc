// Subnet management packets that find their way by port numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::Method, mad::NodeInfo, mad::Smp;

NodeInfo NodeInfoIn(const mad::Arrival& arrival) {
  return wire::Decode<NodeInfo>(
      std::span(arrival.mad).subspan(mad::kSmpDataOffset));
}

TEST(DirectedRouteTest, ReachesEachNodeOfAnUnconfiguredRow) {
  RowFabric row(3);
  EXPECT_EQ(NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1}))[0])
                .node_guid,
            wire::Guid{0x5010});
  EXPECT_EQ(NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2}))[0])
                .node_guid,
            wire::Guid{0x5020});
  EXPECT_EQ(
      NodeInfoIn(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 2, 2}))[0])
          .node_guid,
      wire::Guid{0x2000});
}

// [q0_dr_hop1]
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

// [q0_dr_beyond_ca]
TEST(DirectedRouteTest, EndsWhereThePathRunsThroughAnAdapter) {
  RowFabric row(1);
  EXPECT_TRUE(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 1})).empty());
  EXPECT_EQ(row.fabric.totals().dropped, 1u);
}

TEST(DirectedRouteTest, IsDiscardedAtAPortWithoutALink) {
  RowFabric row(1);
  EXPECT_TRUE(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 5})).empty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 5).Events().xmit_inactive, 1u);
}

TEST(DirectedRouteTest, IsDiscardedWhereTheSwitchHasNoSuchPort) {
  RowFabric row(1);
  EXPECT_TRUE(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 9})).empty());
  EXPECT_TRUE(row.Send(DirectedGet(AttributeId::kNodeInfo, {1, 0})).empty());
}

TEST(DirectedRouteTest, AnswersTheHostOfASwitch) {
  RowFabric row(2);
  Inbox inbox;
  mad::Port& port = row.fabric.device(RowFabric::Switch(1)).port(0);
  port.SetListener(&inbox);
  // Out of port 2 and again of port 2: host 2 is behind switch 2.
  ASSERT_TRUE(port.Transmit(DirectedGet(AttributeId::kNodeInfo, {2, 2})).ok());
  row.timers.RunPending();
  ASSERT_EQ(inbox.arrivals.size(), 1u);
  EXPECT_EQ(NodeInfoIn(inbox.arrivals[0]).node_guid, wire::Guid{0x2000});
}

// The first part of the path by LID, to switch 1.
TEST(DirectedRouteTest, StartsAtASwitchThatWasReachedByLid) {
  RowFabric row(3);
  row.Configure();
  mad::Outgoing packet = DirectedGet(AttributeId::kNodeInfo, {2, 2});
  wire::Put<&Smp::hop_pointer>(packet.mad, 0);
  wire::Put<&Smp::dr_slid>(packet.mad, Lid{1});
  packet.to.dlid = Lid{11};
  const auto answers = row.Send(packet);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(NodeInfoIn(answers[0]).node_guid, wire::Guid{0x5030});
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(answers[0].mad), 0);
  EXPECT_EQ(answers[0].slid, Lid{11});
}

// The last part of the path by LID, from switch 1 to host 2.
TEST(DirectedRouteTest, GoesOnByLidBehindItsLastHop) {
  RowFabric row(3);
  row.Configure();
  mad::Outgoing packet = DirectedGet(AttributeId::kNodeInfo, {1});
  wire::Put<&Smp::dr_dlid>(packet.mad, Lid{2});
  const auto answers = row.Send(packet);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(NodeInfoIn(answers[0]).node_guid, wire::Guid{0x2000});
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(answers[0].mad), 0);
}

// [q0_dr_local]
TEST(DirectedRouteTest, AsksTheOwnAgentsWithoutTheWire) {
  RowFabric row(1);
  mad::Arrival request;
  request.mad = DirectedGet(AttributeId::kNodeInfo, {}).mad;
  request.slid = Lid::kPermissive;
  mad::MadBytes reply{};
  ASSERT_EQ(row.Host1().ProcessLocal(request, reply),
            mad::LocalVerdict::kReply);
  EXPECT_EQ(wire::Get<&Smp::method>(reply), Method::kGetResp);
  EXPECT_EQ(row.fabric.totals().sent, 0u);
}

// [q0_dr_hop1] As from an HCA: its own LID in the LRH of what it sends.
TEST(DirectedRouteTest, CarriesTheRespondersLidBetweenTwoAdapters) {
  RowFabric row(0);
  row.PortOf(row.host_2, 1).info.lid = Lid{7};
  const auto answers = row.Send(DirectedGet(AttributeId::kNodeInfo, {1}));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].slid, Lid{7});
}

}  // namespace
}  // namespace ibemu::fabric
