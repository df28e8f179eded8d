// Packets that find their way by LID.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/fabric/small_fabric.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass;
using ::testing::IsEmpty, ::testing::SizeIs;

constexpr MgmtClass kSmp = MgmtClass::kSubnetLidRouted;
constexpr MgmtClass kGmp = MgmtClass::kSubnetAdministration;

mad::Outgoing SmpTo(Lid dlid) {
  return LidGet(0, kSmp, dlid, AttributeId::kNodeInfo);
}
// Unattached nodes answer it as a kernel without agents does.
mad::Outgoing GmpTo(Lid dlid) {
  return LidGet(1, kGmp, dlid, AttributeId::kClassPortInfo);
}

TEST(ForwardingTest, FollowsTheTablesThereAndBack) {
  RowFabric row(3);
  row.Configure();
  const auto answers = row.Send(SmpTo(Lid{2}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{2});
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), SizeIs(1));
}

TEST(ForwardingTest, ReachesHostsBehindMoreSwitchesThanDirectedRoutesCan) {
  RowFabric row(100);
  row.Configure();
  for (int number = 1; number <= 100; ++number) {
    row.fabric.subnet()
        .node(RowFabric::Switch(number))
        .sw->info.linear_fdb_top = 200;
  }
  EXPECT_THAT(row.Send(SmpTo(Lid{2})), SizeIs(1));
}

TEST(ForwardingTest, ReachesTheManagementPortOfASwitch) {
  RowFabric row(3);
  row.Configure();
  const auto answers = row.Send(SmpTo(Lid{12}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{12});
  EXPECT_THAT(row.Send(GmpTo(Lid{12})), SizeIs(1));
}

TEST(ForwardingTest, TellsThePathBitsOfALidWithLmc) {
  RowFabric row(0);
  row.Configure();
  row.PortOf(row.host_2, 1).info.lid = Lid{8};
  row.PortOf(row.host_2, 1).info.lmc = 2;
  const auto answers = row.Send(SmpTo(Lid{11}));
  ASSERT_THAT(answers, SizeIs(1));
  EXPECT_EQ(answers[0].slid, Lid{11}) << "answers from the LID it was asked by";
  EXPECT_THAT(row.Send(SmpTo(Lid{12})), IsEmpty()) << "one past its range";
}

TEST(ForwardingTest, CountsAPacketForALidThatIsNotThere) {
  RowFabric row(1);
  row.Configure();
  EXPECT_THAT(row.Send(SmpTo(Lid{40})), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 1).Events().relay_dlid_mapping,
            1u);
}

TEST(ForwardingTest, ForwardsNothingAboveLinearFdbTop) {
  RowFabric row(1);
  row.Configure();
  row.fabric.subnet().node(RowFabric::Switch(1)).sw->info.linear_fdb_top = 1;
  EXPECT_THAT(row.Send(SmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 1).Events().relay_dlid_mapping,
            1u);
}

TEST(ForwardingTest, DoesNotSendAPacketBackWhereItCameFrom) {
  RowFabric row(1);
  row.Configure();
  row.fabric.subnet().node(RowFabric::Switch(1)).sw->linear.Set(Lid{30}, 1);
  EXPECT_THAT(row.Send(SmpTo(Lid{30})), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 1).Events().relay_looping, 1u);
}

TEST(ForwardingTest, EndsARoutingLoop) {
  // Three switches in a ring; each sends LID 30 on to the next.
  topology::Topology ring = Row(3);
  ring.links.push_back({.a = topology::NodeId{1},
                        .b = topology::NodeId{3},
                        .port_a = 3,
                        .port_b = 3,
                        .rate = topology::DefaultLinkRate()});
  testing::VirtualTimers timers;
  Fabric fabric(ring, timers, {});
  const uint8_t onwards[] = {0, 2, 2, 3};
  for (uint32_t number = 1; number <= 3; ++number) {
    SwitchState& sw = *fabric.subnet().node(topology::NodeId{number}).sw;
    sw.info.linear_fdb_top = 63;
    sw.linear.Set(Lid{30}, onwards[number]);
  }
  ASSERT_TRUE(
      fabric.device(topology::NodeId{0}).port(1).Transmit(SmpTo(Lid{30})).ok());
  timers.RunPending();
  EXPECT_EQ(fabric.totals().dropped, 1u);
  uint64_t lifetime = 0;
  for (NodePort& port : fabric.subnet().ports()) {
    lifetime += port.Events().xmit_lifetime;
  }
  EXPECT_EQ(lifetime, 1u);
}

TEST(ForwardingTest, LetsOnlySubnetManagementThroughBeforeActive) {
  RowFabric row(1);
  row.Configure();
  NodePort& egress = row.PortOf(RowFabric::Switch(1), 2);
  egress.info.port_state = mad::PortState::kInit;
  EXPECT_THAT(row.Send(SmpTo(Lid{2})), SizeIs(1));
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(egress.Events().xmit_inactive, 1u);
}

TEST(ForwardingTest, BecomesActiveByDataInArmed) {
  RowFabric row(1);
  row.Configure();
  NodePort& ingress = row.PortOf(row.host_2, 1);
  ingress.info.port_state = mad::PortState::kArmed;
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), SizeIs(1));
  EXPECT_EQ(ingress.info.port_state, mad::PortState::kActive);
}

TEST(ForwardingTest, DropsDataThatReachesAPortInInit) {
  RowFabric row(1);
  row.Configure();
  row.PortOf(row.host_2, 1).info.port_state = mad::PortState::kInit;
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(row.PortOf(row.host_2, 1).info.port_state, mad::PortState::kInit);
}

TEST(ForwardingTest, CountsWhatCrossesEachPort) {
  RowFabric row(1);
  row.Configure();
  row.Send(GmpTo(Lid{2}));
  row.Send(SmpTo(Lid{2}));
  // LRH 8, BTH 12, DETH 8, MAD 256, ICRC 4: 72 words.
  const TrafficCounters& host = row.PortOf(row.host_1, 1).traffic;
  EXPECT_EQ(host.xmit_packets, 2u);
  EXPECT_EQ(host.xmit_data, 2u * 72);
  EXPECT_EQ(host.rcv_packets, 2u);
  EXPECT_EQ(host.xmit_vl15_packets, 1u);
  const TrafficCounters& far = row.PortOf(RowFabric::Switch(1), 2).traffic;
  EXPECT_EQ(far.xmit_packets, 2u);
  EXPECT_EQ(far.rcv_packets, 2u);
}

TEST(ForwardingTest, CountsLanesOnceAnotherThanTheFirstIsUsed) {
  RowFabric row(1);
  row.Configure();
  row.Send(GmpTo(Lid{2}));
  EXPECT_EQ(row.PortOf(row.host_1, 1).lanes, nullptr);
  row.PortOf(row.host_1, 1).info.operational_vls = 3;  // four lanes
  mad::Outgoing packet = GmpTo(Lid{2});
  packet.to.sl = 6;
  row.Send(packet);
  ASSERT_NE(row.PortOf(row.host_1, 1).lanes, nullptr);
  const LaneCounters& lanes = *row.PortOf(row.host_1, 1).lanes;
  EXPECT_EQ(lanes.xmit_data_by_sl[6], 72u);
  EXPECT_EQ(lanes.xmit_packets_by_vl[2], 1u) << "SL 6 modulo four lanes";
  EXPECT_EQ(lanes.rcv_data_by_sl[6], 72u) << "the answer has the same SL";
}

TEST(ForwardingTest, DropsAnSlWhoseLaneIsVl15) {
  RowFabric row(1);
  row.Configure();
  NodePort& egress = row.PortOf(RowFabric::Switch(1), 2);
  egress.Tables().sl_to_vl.resize(9);
  egress.Tables().sl_to_vl[1].fill(15);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 1).Events().relay_vl_mapping, 1u);
  EXPECT_THAT(row.Send(SmpTo(Lid{2})), SizeIs(1)) << "SMPs always use VL15";
}

TEST(ForwardingTest, EnforcesPartitionsAtTheIngressOfASwitch) {
  RowFabric row(1);
  row.Configure();
  NodePort& ingress = row.PortOf(RowFabric::Switch(1), 1);
  ingress.info.partition_enforcement_inbound = true;
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), SizeIs(1));
  ingress.SetPKey(0, 0x8001);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(ingress.Events().rcv_constraint_errors, 1u);
}

// A subnet manager gives a switch the table of the host beyond its port, so a
// limited member's key is there as that host sends it.
TEST(ForwardingTest, LetsALimitedMemberInWithItsOwnKey) {
  RowFabric row(1);
  row.Configure();
  NodePort& ingress = row.PortOf(RowFabric::Switch(1), 1);
  ingress.info.partition_enforcement_inbound = true;
  ingress.SetPKey(0, 0x7fff);
  row.PortOf(row.host_1, 1).SetPKey(0, 0x7fff);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), SizeIs(1));
  EXPECT_EQ(ingress.Events().rcv_constraint_errors, 0u);
}

TEST(ForwardingTest, LetsAFullMemberInWithTheKeyOfALimitedOne) {
  RowFabric row(1);
  row.Configure();
  row.PortOf(RowFabric::Switch(1), 1).info.partition_enforcement_inbound = true;
  row.PortOf(row.host_1, 1).SetPKey(0, 0x7fff);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), SizeIs(1));
}

TEST(ForwardingTest, KeepsALimitedMemberOutThatSendsAsAFullOne) {
  RowFabric row(1);
  row.Configure();
  NodePort& ingress = row.PortOf(RowFabric::Switch(1), 1);
  ingress.info.partition_enforcement_inbound = true;
  ingress.SetPKey(0, 0x7fff);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(ingress.Events().rcv_constraint_errors, 1u);
}

TEST(ForwardingTest, KeepsLimitedMembersApartAtTheEgressOfASwitch) {
  RowFabric row(1);
  row.Configure();
  NodePort& egress = row.PortOf(RowFabric::Switch(1), 2);
  egress.info.partition_enforcement_outbound = true;
  egress.SetPKey(0, 0x7fff);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), SizeIs(1)) << "from a full member";
  row.PortOf(row.host_1, 1).SetPKey(0, 0x7fff);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(egress.Events().xmit_constraint_errors, 1u);
}

TEST(ForwardingTest, EnforcesPartitionsAtTheEgressOfASwitch) {
  RowFabric row(1);
  row.Configure();
  NodePort& egress = row.PortOf(RowFabric::Switch(1), 2);
  egress.info.partition_enforcement_outbound = true;
  egress.SetPKey(0, 0x8001);
  EXPECT_THAT(row.Send(GmpTo(Lid{2})), IsEmpty());
  EXPECT_EQ(egress.Events().xmit_constraint_errors, 1u);
}

// Every port of a switch but the ingress; not where no link is.
TEST(ForwardingTest, ReplicatesMulticastToTheMembers) {
  topology::Topology star = Row(1);
  for (uint32_t i = 0; i < 3; ++i) {
    topology::NodeSpec host = star.nodes[0];
    host.node_guid = wire::Guid{0x3000 + 0x100 * i};
    star.nodes.push_back(host);
    star.links.push_back({.a = topology::NodeId{3 + i},
                          .b = topology::NodeId{1},
                          .port_a = 1,
                          .port_b = static_cast<uint8_t>(3 + i),
                          .rate = topology::DefaultLinkRate()});
  }
  testing::VirtualTimers timers;
  Fabric fabric(star, timers, {});
  for (const NodePort& port : fabric.subnet().ports()) {
    const PortId id = fabric.subnet().id_of(port);
    fabric.links().SetLogicalState(id, mad::PortState::kArmed);
    fabric.links().SetLogicalState(id, mad::PortState::kActive);
  }
  constexpr Lid kGroup{0xc025};
  SwitchState& sw = *fabric.subnet().node(topology::NodeId{1}).sw;
  for (const int member : {0, 1, 2, 4, 5}) {
    sw.multicast.Set(kGroup, member, true);
  }
  std::vector<Inbox> inboxes(6);
  for (const uint32_t node : {0u, 2u, 3u, 4u, 5u}) {
    fabric.device(topology::NodeId{node}).port(1).SetListener(&inboxes[node]);
  }
  fabric.device(topology::NodeId{1}).port(0).SetListener(&inboxes[1]);

  ASSERT_TRUE(
      fabric.device(topology::NodeId{0}).port(1).Transmit(GmpTo(kGroup)).ok());
  timers.RunPending();
  EXPECT_THAT(inboxes[0].arrivals, IsEmpty()) << "not back to the ingress";
  EXPECT_THAT(inboxes[1].arrivals, SizeIs(1)) << "the switch itself";
  EXPECT_THAT(inboxes[2].arrivals, SizeIs(1));
  EXPECT_THAT(inboxes[3].arrivals, IsEmpty()) << "no member";
  EXPECT_THAT(inboxes[4].arrivals, SizeIs(1));
  EXPECT_THAT(inboxes[5].arrivals, SizeIs(1));
  const auto& port =
      fabric.subnet().port(fabric.subnet().port_id(topology::NodeId{1}, 2));
  EXPECT_EQ(port.events->xmit_multicast_packets, 1u);
}

TEST(ForwardingTest, CountsMulticastToNoMember) {
  RowFabric row(1);
  row.Configure();
  EXPECT_THAT(row.Send(GmpTo(Lid{0xc000})), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 1).Events().relay_dlid_mapping,
            1u);
}

TEST(ForwardingTest, EndsAMulticastStorm) {
  // Every pair of five switches is linked, and each sends to all others.
  topology::Topology mesh = Row(5);
  for (uint32_t a = 1; a <= 5; ++a) {
    for (uint32_t b = a + 2; b <= 5; ++b) {
      mesh.links.push_back({.a = topology::NodeId{a},
                            .b = topology::NodeId{b},
                            .port_a = static_cast<uint8_t>(2 + b - a),
                            .port_b = static_cast<uint8_t>(9 - b + a),
                            .rate = topology::DefaultLinkRate()});
    }
  }
  testing::VirtualTimers timers;
  Fabric fabric(mesh, timers, {});
  ASSERT_TRUE(ConfigureStatically(fabric).ok());
  for (Node& node : fabric.subnet().nodes()) {
    for (int port = 1; node.is_switch() && port <= 8; ++port) {
      node.sw->multicast.Set(Lid{0xc000}, port, true);
    }
  }
  ASSERT_TRUE(fabric.device(topology::NodeId{0})
                  .port(1)
                  .Transmit(GmpTo(Lid{0xc000}))
                  .ok());
  timers.RunPending();
  EXPECT_GT(fabric.totals().delivered, 0u);
  EXPECT_LT(fabric.totals().hops, 5 * fabric.subnet().ports().size());
}

TEST(ForwardingTest, GivesASwitchsNeighbourAnAnswerWithoutLids) {
  RowFabric row(1);
  EXPECT_THAT(row.Send(SmpTo(Lid::kPermissive)), SizeIs(1));
}

TEST(ForwardingTest, LetsOthersHaveTheirTurnInALongBurst) {
  constexpr uint64_t kBurst = 1000;
  RowFabric row(0);
  row.Configure();
  Inbox inbox;
  row.Host2().SetListener(&inbox);
  mad::Outgoing packet = GmpTo(Lid{2});
  for (uint64_t tid = 0; tid < kBurst; ++tid) {
    wire::Put<&mad::MadHeader::tid>(packet.mad, tid);
    ASSERT_TRUE(row.Host1().Transmit(packet).ok());
  }
  size_t arrived = 0;
  row.timers.RunAt(row.timers.Now(), [&] { arrived = inbox.arrivals.size(); });
  row.timers.RunPending();
  EXPECT_GT(arrived, 0u);
  EXPECT_LT(arrived, kBurst);
  ASSERT_THAT(inbox.arrivals, SizeIs(kBurst));
  for (uint64_t tid = 0; tid < kBurst; ++tid) {
    EXPECT_EQ(HeaderOf(inbox.arrivals[tid]).tid, tid);
  }
}

TEST(ForwardingTest, RefusesDataToThePermissiveLid) {
  RowFabric row(1);
  row.Configure();
  EXPECT_THAT(row.Send(GmpTo(Lid::kPermissive)), IsEmpty());
  EXPECT_EQ(row.PortOf(RowFabric::Switch(1), 1).Events().rcv_malformed, 1u);
}

}  // namespace
}  // namespace ibemu::fabric
