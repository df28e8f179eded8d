// A node whose adapter is elsewhere: fabric::Fabric::SetRemote().
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <utility>
#include <vector>

#include "fabric/forwarding/endpoints.h"
#include "fabric/packet/transport.h"
#include "mad/wire/node_info.h"
#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, wire::Lid, mad::MgmtClass, mad::PortState, mad::Smp;
using ::testing::ElementsAre, ::testing::IsEmpty, ::testing::SizeIs;
using testing::Lab, testing::Chain, testing::DirectedGet, testing::LidGet;

struct Adapter : RemoteAdapter {
  void OnPacket(PortId port, const Packet& packet) override {
    packets.emplace_back(port, packet);
  }
  void OnReregister(PortId port) override { reregisters.push_back(port); }
  std::vector<std::pair<PortId, Packet>> packets;
  std::vector<PortId> reregisters;
};

struct RemoteAdapterTest : ::testing::Test {
  RemoteAdapterTest() {}

  void Plug() {
    ASSERT_TRUE(lab.fabric.SetRemote(lab.Host(2), &adapter).ok());
    lab.fabric.SetPort(port(), true);
    lab.Configure();
  }
  PortId port() const {
    const Subnet& subnet = std::as_const(lab.fabric).subnet();
    return subnet.port_id(subnet.node(lab.Host(2)), 1);
  }
  PortState State() { return lab.HostPort(2).Info().port_state; }

  Lab lab{Chain(1)};
  Adapter adapter;
};

TEST_F(RemoteAdapterTest, ItsPortsAreDownUntilItsDriverEnablesThem) {
  ASSERT_EQ(State(), PortState::kInit);
  ASSERT_TRUE(lab.fabric.SetRemote(lab.Host(2), &adapter).ok());
  EXPECT_EQ(State(), PortState::kDown);
  lab.fabric.SetPort(port(), true);
  EXPECT_EQ(State(), PortState::kInit);
  lab.fabric.SetPort(port(), false);
  EXPECT_EQ(State(), PortState::kDown);
}

TEST_F(RemoteAdapterTest, GetsADirectedRoutePacketAsTheNeighbourLeftIt) {
  Plug();
  EXPECT_THAT(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2})), IsEmpty());
  ASSERT_THAT(adapter.packets, SizeIs(1));
  EXPECT_EQ(adapter.packets[0].first, port());
  const Packet& packet = adapter.packets[0].second;
  EXPECT_TRUE(packet.vl15);
  EXPECT_EQ(packet.dlid, Lid::kPermissive);
  // An agent would see 3, one more than the hop count.
  EXPECT_EQ(wire::Get<&Smp::hop_pointer>(packet.mad), 2);
}

TEST_F(RemoteAdapterTest, GetsWhatTheNodesAgentsAnsweredBefore) {
  Plug();
  EXPECT_THAT(lab.Send(LidGet(1, MgmtClass::kPerformance, Lid{2},
                              AttributeId::kClassPortInfo)),
              IsEmpty());
  ASSERT_THAT(adapter.packets, SizeIs(1));
  EXPECT_EQ(adapter.packets[0].second.q_key, mad::kQp1QKey);
}

TEST_F(RemoteAdapterTest, IsToldThatProgramsAreToRegisterAgain) {
  Plug();
  adapter.reregisters.clear();
  lab.fabric.AskToReregister(port());
  EXPECT_THAT(adapter.reregisters, ElementsAre(port()));
}

TEST_F(RemoteAdapterTest, SendsAsTheNodeDoes) {
  Plug();
  Packet packet;
  packet.slid = Lid{2};
  packet.dlid = Lid{1};
  packet.source_qpn = packet.destination_qpn = 1;
  packet.q_key = mad::kQp1QKey;
  packet.mad =
      LidGet(1, MgmtClass::kVendorFirst, Lid{1}, AttributeId{0x10}).mad;
  lab.inbox.arrivals.clear();
  lab.fabric.SendFrom(port(), packet);
  lab.timers.RunPending();
  ASSERT_THAT(lab.inbox.arrivals, SizeIs(1));
  EXPECT_EQ(lab.inbox.arrivals[0].slid, Lid{2});
}

TEST_F(RemoteAdapterTest, GetsThePacketsOfATrainOneByOne) {
  Plug();
  Transport train;
  train.first = train.last = true;
  train.packets = 3;
  train.payload = 256;
  train.size = 600;
  train.message = std::make_shared<std::vector<std::byte>>(600);
  Packet packet;
  packet.slid = Lid{1};
  packet.dlid = Lid{2};
  packet.destination_qpn = 5;
  packet.transport = std::make_shared<Transport>(train);
  const Subnet& subnet = std::as_const(lab.fabric).subnet();
  lab.fabric.SendFrom(subnet.port_id(subnet.node(lab.Host(1)), 1), packet);
  lab.timers.RunPending();
  ASSERT_THAT(adapter.packets, SizeIs(3));
  for (const auto& [port, single] : adapter.packets) {
    EXPECT_EQ(single.Count(), 1u);
  }
  EXPECT_EQ(adapter.packets[2].second.transport->size, 88u);
}

TEST_F(RemoteAdapterTest, LeavesAnOrdinaryNodeBehind) {
  Plug();
  // A subnet manager's, who takes its time.
  lab.PortOf("sw1", 0).info.master_sm_lid = Lid{1};
  ASSERT_TRUE(lab.fabric.SetRemote(lab.Host(2), nullptr).ok());
  lab.timers.RunPending();
  EXPECT_EQ(State(), PortState::kInit);
  EXPECT_THAT(lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2})), SizeIs(1));
  EXPECT_THAT(adapter.packets, IsEmpty());
}

TEST_F(RemoteAdapterTest, TakesItsSubnetManagerAway) {
  Plug();
  lab.HostPort(2).SetIsSm(true);
  ASSERT_TRUE(lab.fabric.SetRemote(lab.Host(2), nullptr).ok());
  EXPECT_EQ(lab.HostPort(2).Info().capability_mask & mad::capability::kIsSm,
            0u);
}

TEST_F(RemoteAdapterTest, IsOneAtATimeAndNoSwitch) {
  EXPECT_EQ(lab.fabric.SetRemote(lab.Switch(1), &adapter).message(),
            "\"sw1\" is no channel adapter");
  ASSERT_TRUE(lab.fabric.SetRemote(lab.Host(2), &adapter).ok());
  Adapter other;
  EXPECT_EQ(lab.fabric.SetRemote(lab.Host(2), &other).message(),
            "\"host-2\" has an adapter elsewhere already");
}

TEST_F(RemoteAdapterTest, IsPulledOutWhereItIsAndNotHere) {
  Plug();
  EXPECT_EQ(lab.fabric.RemoveDevice(lab.Host(2)).message(),
            "the adapter of \"host-2\" is that of another machine, which alone "
            "can pull it out");
}

TEST_F(RemoteAdapterTest, IsNotWhereTheBuiltInSubnetManagerRuns) {
  Lab pair(Chain(0), Lab::kByItsManager);
  EXPECT_EQ(pair.fabric.SetRemote(pair.Host(2), &adapter).message(),
            "the subnet manager of --sm=builtin is on \"host-2\": choose "
            "another node, or --sm=none");
  EXPECT_TRUE(pair.fabric.SetRemote(pair.Host(1), &adapter).ok());
}

// As the adapter of a host that another daemon has joined.
struct AdapterWithoutReads final : Adapter {
  bool LeavesReadsToAgents() const override { return true; }
};

struct ReadsLeftToAgentsTest : ::testing::Test {
  ReadsLeftToAgentsTest() {
    EXPECT_TRUE(lab.fabric.SetRemote(lab.Host(2), &adapter).ok());
    lab.fabric.SetPort(lab.IdOf("host-2", 1), true);
    lab.Configure();
  }
  std::vector<mad::Arrival> AskFor(AttributeId attribute) {
    return lab.Send(LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, attribute));
  }

  Lab lab{Chain(1)};
  AdapterWithoutReads adapter;
};

TEST_F(ReadsLeftToAgentsTest, AreAnsweredWithoutTheAdapter) {
  const auto told = AskFor(AttributeId::kPortInfo);
  ASSERT_THAT(told, SizeIs(1));
  EXPECT_EQ(told[0].slid, Lid{2});
  EXPECT_THAT(adapter.packets, IsEmpty());
}

TEST_F(ReadsLeftToAgentsTest, AreAnsweredByDirectedRoute) {
  const auto told = lab.Send(DirectedGet(AttributeId::kNodeInfo, {1, 2}));
  ASSERT_THAT(told, SizeIs(1));
  const auto smp = wire::Decode<Smp>(told[0].mad);
  EXPECT_TRUE(smp.direction);
  EXPECT_EQ(smp.hop_pointer, 0);
  EXPECT_EQ(smp.return_path[1], 1);
  EXPECT_EQ(smp.return_path[2], 1);
  const auto info = wire::Decode<mad::NodeInfo>(smp.data);
  EXPECT_EQ(info.node_guid, lab.fabric.device(lab.Host(2)).node_guid());
  EXPECT_EQ(info.local_port_num, 1);
  EXPECT_THAT(adapter.packets, IsEmpty());
}

TEST_F(ReadsLeftToAgentsTest, AreRefusedWithoutTheAdapter) {
  mad::PortInfo& info = lab.PortOf("host-2", 1).info;
  info.m_key = 0x1234;
  info.m_key_protect_bits = 3;  // reads, too
  EXPECT_THAT(AskFor(AttributeId::kPortInfo), IsEmpty());
  EXPECT_EQ(info.m_key_violations, 1);
  EXPECT_THAT(adapter.packets, IsEmpty());
}

TEST_F(ReadsLeftToAgentsTest, AreAnsweredLateWhereTheAgentsAreSlow) {
  constexpr absl::Duration kSlow = absl::Milliseconds(50);
  lab.fabric.AddAgentFault(lab.Host(2), {.delay = kSlow});
  EXPECT_THAT(AskFor(AttributeId::kPortInfo), IsEmpty());
  lab.timers.RunFor(kSlow);
  EXPECT_THAT(lab.inbox.arrivals, SizeIs(1));
}

TEST_F(ReadsLeftToAgentsTest, AreAllThatTheAdapterDoesNotGet) {
  auto set =
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kPortInfo);
  wire::Put<&mad::MadHeader::method>(set.mad, mad::Method::kSet);
  const std::vector<mad::Outgoing> others = {
      set,
      // Of a subnet manager that runs there.
      LidGet(0, MgmtClass::kSubnetLidRouted, Lid{2}, AttributeId::kSmInfo),
      // Further than the host is.
      DirectedGet(AttributeId::kNodeInfo, {1, 2, 1}),
      LidGet(1, MgmtClass::kPerformance, Lid{2}, AttributeId::kClassPortInfo)};
  for (size_t i = 0; i < others.size(); ++i) {
    EXPECT_THAT(lab.Send(others[i]), IsEmpty());
    EXPECT_THAT(adapter.packets, SizeIs(i + 1));
  }
}

}  // namespace
}  // namespace ibemu::fabric
