// Subnet management packets that find their way by port numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::Method, mad::NodeInfo, mad::Smp;
using testing::Lab, testing::Chain, testing::Inbox, testing::DirectedGet;

NodeInfo NodeInfoIn(const mad::Arrival& arrival) {
  return wire::Decode<NodeInfo>(
      std::span(arrival.mad).subspan(mad::kSmpDataOffset));
}

TEST(DirectedRouteTest, ReachesEachNodeOfAnUnconfiguredRow) {
  Lab lab(Chain(3));
  EXPECT_EQ(NodeInfoIn(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1}))[0])
                .node_guid,
            wire::Guid{0x5010});
  EXPECT_EQ(NodeInfoIn(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2}))[0])
                .node_guid,
            wire::Guid{0x5020});
  EXPECT_EQ(
      NodeInfoIn(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 2, 2}))[0])
          .node_guid,
      wire::Guid{0x2000});
}

// [q0_dr_hop1]
TEST(DirectedRouteTest, ComesBackWithTheReturnPathAndHopPointerZero) {
  Lab lab(Chain(3));
  const auto answers =
      lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 2, 2}));
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
  Lab lab(Chain(2));
  EXPECT_EQ(NodeInfoIn(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2}))[0])
                .local_port_num,
            1);
}

// [q0_dr_beyond_ca]
TEST(DirectedRouteTest, EndsWhereThePathRunsThroughAnAdapter) {
  Lab lab(Chain(1));
  EXPECT_TRUE(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2, 1})).empty());
  EXPECT_EQ(lab.fabric.totals().dropped, 1u);
}

TEST(DirectedRouteTest, IsDiscardedAtAPortWithoutALink) {
  Lab lab(Chain(1));
  EXPECT_TRUE(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 5})).empty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 5).Events().xmit_inactive, 1u);
}

TEST(DirectedRouteTest, IsDiscardedWhereTheSwitchHasNoSuchPort) {
  Lab lab(Chain(1));
  EXPECT_TRUE(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 9})).empty());
  EXPECT_TRUE(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 0})).empty());
}

TEST(DirectedRouteTest, AnswersTheHostOfASwitch) {
  Lab lab(Chain(2));
  Inbox inbox;
  mad::Port& port = lab.fabric.device(lab.Switch(1)).port(0);
  port.SetListener(&inbox);
  // Out of port 2 and again of port 2: host 2 is behind switch 2.
  ASSERT_TRUE(port.Transmit(DirectedGet(AttributeId::kNodeInfo, {2, 2})).ok());
  lab.timers.RunPending();
  ASSERT_EQ(inbox.arrivals.size(), 1u);
  EXPECT_EQ(NodeInfoIn(inbox.arrivals[0]).node_guid, wire::Guid{0x2000});
}

// The first part of the path by LID, to switch 1.
TEST(DirectedRouteTest, StartsAtASwitchThatWasReachedByLid) {
  Lab lab(Chain(3), Lab::kStatically);
  mad::Outgoing packet = DirectedGet(AttributeId::kNodeInfo, {2, 2});
  wire::Put<&Smp::hop_pointer>(packet.mad, 0);
  wire::Put<&Smp::dr_slid>(packet.mad, Lid{1});
  packet.to.dlid = lab.LidOf("sw1", 0);
  const auto answers = lab.Send(packet);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(NodeInfoIn(answers[0]).node_guid, wire::Guid{0x5030});
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(answers[0].mad), 0);
  EXPECT_EQ(answers[0].slid, lab.LidOf("sw1", 0));
}

// The last part of the path by LID, from switch 1 to host 2.
TEST(DirectedRouteTest, GoesOnByLidBehindItsLastHop) {
  Lab lab(Chain(3), Lab::kStatically);
  mad::Outgoing packet = DirectedGet(AttributeId::kNodeInfo, {1});
  wire::Put<&Smp::dr_dlid>(packet.mad, Lid{2});
  const auto answers = lab.Send(packet);
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(NodeInfoIn(answers[0]).node_guid, wire::Guid{0x2000});
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(answers[0].mad), 0);
}

// [q0_dr_local]
TEST(DirectedRouteTest, AsksTheOwnAgentsWithoutTheWire) {
  Lab lab(Chain(1));
  mad::Arrival request;
  request.mad = DirectedGet(AttributeId::kNodeInfo, {}).mad;
  request.slid = Lid::kPermissive;
  mad::MadBytes reply{};
  ASSERT_EQ(lab.HostPort(1).ProcessLocal(request, reply),
            mad::LocalVerdict::kReply);
  EXPECT_EQ(wire::Get<&Smp::method>(reply), Method::kGetResp);
  EXPECT_EQ(lab.fabric.totals().sent, 0u);
}

// [q0_dr_hop1] As from an HCA: its own LID in the LRH of what it sends.
TEST(DirectedRouteTest, CarriesTheRespondersLidBetweenTwoAdapters) {
  Lab lab(Chain(0));
  lab.PortOf(lab.Host(2), 1).info.lid = Lid{7};
  const auto answers = lab.Send(DirectedGet(AttributeId::kNodeInfo, {1}));
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].slid, Lid{7});
}

}  // namespace
}  // namespace ibemu::fabric
