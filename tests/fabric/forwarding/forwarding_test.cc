// Packets that find their way by LID.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::AddLink, testing::Inbox,
    testing::LidGet, testing::HeaderOf;

constexpr MgmtClass kSmp = MgmtClass::kSubnetLidRouted;
constexpr MgmtClass kGmp = MgmtClass::kSubnetAdministration;

mad::Outgoing SmpTo(Lid dlid) {
  return LidGet(0, kSmp, dlid, AttributeId::kNodeInfo);
}
// Unattached nodes answer it as a kernel without agents does.
mad::Outgoing GmpTo(Lid dlid) {
  return LidGet(1, kGmp, dlid, AttributeId::kClassPortInfo);
}

// host-1 - sw1 - host-2, unless a test has a lab of its own.
struct ForwardingTest : ::testing::Test {
  Lab lab{Chain(1), Lab::kStatically};
};

TEST_F(ForwardingTest, FollowsTheTablesThereAndBack) {
  Lab lab(Chain(3), Lab::kStatically);
  const auto answers = lab.Send(SmpTo(Lid{2}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{2});
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), SizeIs(1));
}

TEST_F(ForwardingTest, ReachesHostsBehindMoreSwitchesThanDirectedRoutesCan) {
  Lab lab(Chain(100), Lab::kStatically);
  for (int number = 1; number <= 100; ++number) {
    lab.subnet().node(lab.Switch(number)).sw->info.linear_fdb_top = 200;
  }
  EXPECT_THAT(lab.Send(SmpTo(Lid{2})), SizeIs(1));
}

TEST_F(ForwardingTest, ReachesTheManagementPortOfASwitch) {
  Lab lab(Chain(3), Lab::kStatically);
  const auto answers = lab.Send(SmpTo(lab.LidOf("sw2", 0)));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, lab.LidOf("sw2", 0));
  EXPECT_THAT(lab.Send(GmpTo(lab.LidOf("sw2", 0))), SizeIs(1));
}

TEST_F(ForwardingTest, TellsThePathBitsOfALidWithLmc) {
  Lab lab(Chain(0), Lab::kStatically);
  lab.PortOf(lab.Host(2), 1).info.lid = Lid{8};
  lab.PortOf(lab.Host(2), 1).info.lmc = 2;
  const auto answers = lab.Send(SmpTo(Lid{11}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{11}) << "answers from the LID it was asked by";
  EXPECT_THAT(lab.Send(SmpTo(Lid{12})), IsEmpty()) << "one past its range";
}

TEST_F(ForwardingTest, CountsAPacketForALidThatIsNotThere) {
  EXPECT_THAT(lab.Send(SmpTo(Lid{40})), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().relay_dlid_mapping, 1u);
}

TEST_F(ForwardingTest, ForwardsNothingAboveLinearFdbTop) {
  lab.subnet().node(lab.Switch(1)).sw->info.linear_fdb_top = 1;
  EXPECT_THAT(lab.Send(SmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().relay_dlid_mapping, 1u);
}

TEST_F(ForwardingTest, DoesNotSendAPacketBackWhereItCameFrom) {
  lab.subnet().node(lab.Switch(1)).sw->linear.Set(Lid{30}, 1);
  EXPECT_THAT(lab.Send(SmpTo(Lid{30})), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().relay_looping, 1u);
}

TEST_F(ForwardingTest, EndsARoutingLoop) {
  // Three switches in a ring; each sends LID 30 on to the next.
  topology::Topology ring = Chain(3);
  AddLink(ring, 1, 3, 3, 3);
  Lab lab(ring);
  const uint8_t onwards[] = {0, 2, 2, 3};
  for (uint32_t number = 1; number <= 3; ++number) {
    SwitchState& sw = *lab.subnet().node(topology::NodeId{number}).sw;
    sw.info.linear_fdb_top = 63;
    sw.linear.Set(Lid{30}, onwards[number]);
  }
  EXPECT_THAT(lab.Send(SmpTo(Lid{30})), IsEmpty());
  EXPECT_EQ(lab.fabric.totals().dropped, 1u);
  uint64_t lifetime = 0;
  for (NodePort& port : lab.subnet().ports()) {
    lifetime += port.Events().xmit_lifetime;
  }
  EXPECT_EQ(lifetime, 1u);
}

TEST_F(ForwardingTest, LetsOnlySubnetManagementThroughBeforeActive) {
  NodePort& egress = lab.PortOf(lab.Switch(1), 2);
  egress.info.port_state = mad::PortState::kInit;
  EXPECT_THAT(lab.Send(SmpTo(Lid{2})), SizeIs(1));
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(egress.Events().xmit_inactive, 1u);
}

TEST_F(ForwardingTest, BecomesActiveByDataInArmed) {
  NodePort& ingress = lab.PortOf(lab.Host(2), 1);
  ingress.info.port_state = mad::PortState::kArmed;
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), SizeIs(1));
  EXPECT_EQ(ingress.info.port_state, mad::PortState::kActive);
}

TEST_F(ForwardingTest, DropsDataThatReachesAPortInInit) {
  lab.PortOf(lab.Host(2), 1).info.port_state = mad::PortState::kInit;
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Host(2), 1).info.port_state, mad::PortState::kInit);
}

TEST_F(ForwardingTest, CountsWhatCrossesEachPort) {
  lab.Send(GmpTo(Lid{2}));
  lab.Send(SmpTo(Lid{2}));
  // LRH 8, BTH 12, DETH 8, MAD 256, ICRC 4: 72 words.
  const TrafficCounters& host = lab.PortOf(lab.Host(1), 1).traffic;
  EXPECT_EQ(host.xmit_packets, 2u);
  EXPECT_EQ(host.xmit_data, 2u * 72);
  EXPECT_EQ(host.rcv_packets, 2u);
  EXPECT_EQ(host.xmit_vl15_packets, 1u);
  const TrafficCounters& far = lab.PortOf(lab.Switch(1), 2).traffic;
  EXPECT_EQ(far.xmit_packets, 2u);
  EXPECT_EQ(far.rcv_packets, 2u);
}

TEST_F(ForwardingTest, CountsLanesOnceAnotherThanTheFirstIsUsed) {
  lab.Send(GmpTo(Lid{2}));
  EXPECT_EQ(lab.PortOf(lab.Host(1), 1).lanes, nullptr);
  lab.PortOf(lab.Host(1), 1).info.operational_vls = 3;  // four lanes
  mad::Outgoing packet = GmpTo(Lid{2});
  packet.to.sl = 6;
  lab.Send(packet);
  ASSERT_NE(lab.PortOf(lab.Host(1), 1).lanes, nullptr);
  const LaneCounters& lanes = *lab.PortOf(lab.Host(1), 1).lanes;
  EXPECT_EQ(lanes.xmit_data_by_sl[6], 72u);
  EXPECT_EQ(lanes.xmit_packets_by_vl[2], 1u) << "SL 6 modulo four lanes";
  EXPECT_EQ(lanes.rcv_data_by_sl[6], 72u) << "the answer has the same SL";
}

TEST_F(ForwardingTest, DropsAnSlWhoseLaneIsVl15) {
  NodePort& egress = lab.PortOf(lab.Switch(1), 2);
  egress.Tables().sl_to_vl.resize(9);
  egress.Tables().sl_to_vl[1].fill(15);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().relay_vl_mapping, 1u);
  EXPECT_THAT(lab.Send(SmpTo(Lid{2})), SizeIs(1)) << "SMPs always use VL15";
}

TEST_F(ForwardingTest, EnforcesPartitionsAtTheIngressOfASwitch) {
  NodePort& ingress = lab.PortOf(lab.Switch(1), 1);
  ingress.info.partition_enforcement_inbound = true;
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), SizeIs(1));
  ingress.SetPKey(0, 0x8001);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(ingress.Events().rcv_constraint_errors, 1u);
}

// A subnet manager gives a switch the table of the host beyond its port, so a
// limited member's key is there as that host sends it.
TEST_F(ForwardingTest, LetsALimitedMemberInWithItsOwnKey) {
  NodePort& ingress = lab.PortOf(lab.Switch(1), 1);
  ingress.info.partition_enforcement_inbound = true;
  ingress.SetPKey(0, 0x7fff);
  lab.PortOf(lab.Host(1), 1).SetPKey(0, 0x7fff);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), SizeIs(1));
  EXPECT_EQ(ingress.Events().rcv_constraint_errors, 0u);
}

TEST_F(ForwardingTest, LetsAFullMemberInWithTheKeyOfALimitedOne) {
  lab.PortOf(lab.Switch(1), 1).info.partition_enforcement_inbound = true;
  lab.PortOf(lab.Host(1), 1).SetPKey(0, 0x7fff);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), SizeIs(1));
}

TEST_F(ForwardingTest, KeepsALimitedMemberOutThatSendsAsAFullOne) {
  NodePort& ingress = lab.PortOf(lab.Switch(1), 1);
  ingress.info.partition_enforcement_inbound = true;
  ingress.SetPKey(0, 0x7fff);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(ingress.Events().rcv_constraint_errors, 1u);
}

TEST_F(ForwardingTest, KeepsLimitedMembersApartAtTheEgressOfASwitch) {
  NodePort& egress = lab.PortOf(lab.Switch(1), 2);
  egress.info.partition_enforcement_outbound = true;
  egress.SetPKey(0, 0x7fff);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), SizeIs(1)) << "from a full member";
  lab.PortOf(lab.Host(1), 1).SetPKey(0, 0x7fff);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(egress.Events().xmit_constraint_errors, 1u);
}

TEST_F(ForwardingTest, EnforcesPartitionsAtTheEgressOfASwitch) {
  NodePort& egress = lab.PortOf(lab.Switch(1), 2);
  egress.info.partition_enforcement_outbound = true;
  egress.SetPKey(0, 0x8001);
  EXPECT_THAT(lab.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(egress.Events().xmit_constraint_errors, 1u);
}

// Every port of a switch but the ingress; not where no link is.
TEST_F(ForwardingTest, ReplicatesMulticastToTheMembers) {
  topology::Topology star = Chain(1);
  for (uint32_t i = 0; i < 3; ++i) {
    topology::NodeSpec host = star.nodes[0];
    host.node_guid = wire::Guid{0x3000 + 0x100 * i};
    star.nodes.push_back(host);
    AddLink(star, 3 + i, 1, 1, 3 + static_cast<int>(i));
  }
  Lab lab(star);
  lab.Activate();
  constexpr Lid kGroup{0xc025};
  SwitchState& sw = *lab.subnet().node(lab.Switch(1)).sw;
  for (const int member : {0, 1, 2, 4, 5}) {
    sw.multicast.Set(kGroup, member, true);
  }
  std::vector<Inbox> inboxes(6);
  for (const uint32_t node : {0u, 2u, 3u, 4u, 5u}) {
    lab.fabric.device(topology::NodeId{node})
        .port(1)
        .SetListener(&inboxes[node]);
  }
  lab.fabric.device(lab.Switch(1)).port(0).SetListener(&inboxes[1]);

  lab.Send(GmpTo(kGroup));
  EXPECT_THAT(inboxes[0].arrivals, IsEmpty()) << "not back to the ingress";
  EXPECT_THAT(inboxes[1].arrivals, SizeIs(1)) << "the switch itself";
  EXPECT_THAT(inboxes[2].arrivals, SizeIs(1));
  EXPECT_THAT(inboxes[3].arrivals, IsEmpty()) << "no member";
  EXPECT_THAT(inboxes[4].arrivals, SizeIs(1));
  EXPECT_THAT(inboxes[5].arrivals, SizeIs(1));
  EXPECT_EQ(lab.PortOf("sw1", 2).events->xmit_multicast_packets, 1u);
}

TEST_F(ForwardingTest, CountsMulticastToNoMember) {
  EXPECT_THAT(lab.Send(GmpTo(Lid{0xc000})), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().relay_dlid_mapping, 1u);
}

TEST_F(ForwardingTest, LosesNothingWhereTheSenderIsTheOnlyMember) {
  Node& sw = lab.subnet().node(lab.Switch(1));
  sw.sw->multicast.Set(Lid{0xc000}, 1, true);
  const uint64_t before = lab.fabric.totals().dropped;
  EXPECT_THAT(lab.Send(GmpTo(Lid{0xc000})), IsEmpty());
  EXPECT_EQ(lab.fabric.totals().dropped, before);
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().relay_dlid_mapping, 0u);
}

TEST_F(ForwardingTest, EndsAMulticastStorm) {
  // Every pair of five switches is linked, and each sends to all others.
  topology::Topology mesh = Chain(5);
  for (uint32_t a = 1; a <= 5; ++a) {
    for (uint32_t b = a + 2; b <= 5; ++b) {
      AddLink(mesh, a, 2 + static_cast<int>(b - a), b,
              9 - static_cast<int>(b - a));
    }
  }
  Lab lab(mesh, Lab::kStatically);
  for (Node& node : lab.subnet().nodes()) {
    for (int port = 1; node.is_switch() && port <= 8; ++port) {
      node.sw->multicast.Set(Lid{0xc000}, port, true);
    }
  }
  lab.Send(GmpTo(Lid{0xc000}));
  EXPECT_GT(lab.fabric.totals().delivered, 0u);
  EXPECT_LT(lab.fabric.totals().hops, 5 * lab.subnet().ports().size());
}

TEST_F(ForwardingTest, GivesASwitchsNeighbourAnAnswerWithoutLids) {
  Lab lab(Chain(1));
  EXPECT_THAT(lab.Send(SmpTo(Lid::kPermissive)), SizeIs(1));
}

TEST_F(ForwardingTest, LetsOthersHaveTheirTurnInALongBurst) {
  constexpr uint64_t kBurst = 1000;
  Lab lab(Chain(0), Lab::kStatically);
  Inbox inbox;
  lab.HostPort(2).SetListener(&inbox);
  mad::Outgoing packet = GmpTo(Lid{2});
  for (uint64_t tid = 0; tid < kBurst; ++tid) {
    wire::Put<&mad::MadHeader::tid>(packet.mad, tid);
    lab.Transmit(1, packet);
  }
  size_t arrived = 0;
  lab.timers.RunAt(lab.timers.Now(), [&] { arrived = inbox.arrivals.size(); });
  lab.timers.RunPending();
  EXPECT_GT(arrived, 0u);
  EXPECT_LT(arrived, kBurst);
  ASSERT_THAT(inbox.arrivals, SizeIs(kBurst));
  for (uint64_t tid = 0; tid < kBurst; ++tid) {
    EXPECT_EQ(HeaderOf(inbox.arrivals[tid]).tid, tid);
  }
}

TEST_F(ForwardingTest, RefusesDataToThePermissiveLid) {
  EXPECT_THAT(lab.Send(GmpTo(Lid::kPermissive)), IsEmpty());
  EXPECT_EQ(lab.PortOf(lab.Switch(1), 1).Events().rcv_malformed, 1u);
}

}  // namespace
}  // namespace ibemu::fabric
