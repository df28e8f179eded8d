// A clear path is what the forwarder does, found without a packet.
#include "fabric/forwarding/clear_path.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "fabric/forwarding/endpoints.h"
#include "fabric/forwarding/forwarder.h"
#include "fabric/packet/transport.h"
#include "testing/lab.h"

namespace ibemu::fabric {
namespace {

using testing::Lab, testing::Chain;
using wire::Lid;

constexpr uint32_t kPayload = 1000;

struct CountingAdapter final : RemoteAdapter {
  void OnPacket(PortId, const Packet&) override { ++packets; }
  void OnReregister(PortId) override {}
  int packets = 0;
};

struct BlindTap final : PacketTap {
  void OnCrossing(PortId, PortId, uint8_t, const Packet&) override {}
};

// host-1 - sw1 - sw2 - sw3 - host-2: LIDs 1 and 2, then the switches.
class ClearPathTest : public ::testing::Test {
 protected:
  ClearPathTest() {
    EXPECT_TRUE(lab_.fabric.SetRemote(lab_.Host(2), &adapter_).ok());
    lab_.fabric.SetPort(lab_.IdOf("host-2", 1), true);
    lab_.Configure();
  }

  PortId from() { return lab_.IdOf("host-1", 1); }
  std::optional<ClearPath> Find(const PacketKind& kind) {
    return lab_.fabric.forwarder().FindClear(from(), kind);
  }

  // Sends one such packet; returns whether it has arrived.
  bool Arrives(const PacketKind& kind, uint32_t size = kPayload) {
    Transport transport;
    transport.first = transport.last = true;
    transport.message = std::make_shared<std::vector<std::byte>>(size);
    transport.size = size;
    Packet packet;
    packet.slid = Lid{1};
    packet.dlid = kind.dlid;
    packet.sl = kind.sl;
    packet.p_key = kind.p_key;
    packet.transport = std::make_shared<const Transport>(transport);
    const int before = adapter_.packets;
    lab_.fabric.SendFrom(from(), packet);
    lab_.timers.RunPending();
    return adapter_.packets > before;
  }

  std::vector<uint64_t> Counters() {
    std::vector<uint64_t> all;
    for (const NodePort& port : lab_.subnet().ports()) {
      const TrafficCounters& traffic = port.traffic;
      all.insert(all.end(), {traffic.xmit_data, traffic.rcv_data,
                             traffic.xmit_packets, traffic.rcv_packets});
      const LaneCounters lanes = port.lanes ? *port.lanes : LaneCounters();
      for (const auto& of_all :
           {lanes.xmit_data_by_sl, lanes.rcv_data_by_sl, lanes.xmit_data_by_vl,
            lanes.rcv_data_by_vl, lanes.xmit_packets_by_vl,
            lanes.rcv_packets_by_vl}) {
        all.insert(all.end(), of_all.begin(), of_all.end());
      }
    }
    const ForwardingTotals& totals = lab_.fabric.totals();
    all.insert(all.end(),
               {totals.sent, totals.hops, totals.delivered, totals.dropped});
    return all;
  }

  static constexpr PacketKind kKind{.dlid = Lid{2}, .sl = 0, .p_key = 0xffff};
  Lab lab_{Chain(3)};
  CountingAdapter adapter_;
};

TEST_F(ClearPathTest, HasTheLinksTheEndAndTheMtu) {
  const std::optional<ClearPath> path = Find(kKind);
  ASSERT_TRUE(path.has_value());
  std::vector<std::string> links;
  for (const ClearPath::Link& link : path->links) {
    links.push_back(lab_.subnet().PortName(link.out));
    EXPECT_EQ(link.vl, 0);
  }
  EXPECT_EQ(links.size(), 4u);
  EXPECT_EQ(path->links.front().out, from());
  EXPECT_EQ(path->end, lab_.IdOf("host-2", 1));
  EXPECT_EQ(path->mtu,
            size_t{128} << lab_.PortOf("host-1", 1).info.neighbor_mtu);
}

TEST_F(ClearPathTest, ACountedPacketLeavesTheCountersOfOneThatWasSent) {
  PacketKind on_a_lane = kKind;
  on_a_lane.sl = 3;
  for (const PacketKind& kind : {kKind, on_a_lane}) {
    const std::vector<uint64_t> before = Counters();
    ASSERT_TRUE(Arrives(kind));
    const std::vector<uint64_t> sent = Counters();
    // LRH 8, BTH 12, the payload, ICRC 4.
    lab_.fabric.forwarder().Account(*Find(kind), kind, 1,
                                    (8 + 12 + kPayload + 4) / 4);
    const std::vector<uint64_t> counted = Counters();
    ASSERT_NE(before, sent);
    for (size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(counted[i] - sent[i], sent[i] - before[i]) << i;
    }
  }
}

TEST_F(ClearPathTest, OnlyPacketsOfOrdinaryQueuePairsToOnePortHaveAKind) {
  Packet packet;
  packet.dlid = Lid{2};
  EXPECT_FALSE(KindOf(packet).has_value());  // a MAD
  packet.transport = std::make_shared<Transport>();
  EXPECT_EQ(KindOf(packet), kKind);
  packet.dlid = Lid{0xc000};
  EXPECT_FALSE(KindOf(packet).has_value());
  packet.dlid = Lid::kUnassigned;
  EXPECT_FALSE(KindOf(packet).has_value());
}

TEST_F(ClearPathTest, TellsWhenItMayNotBeClearAnyMore) {
  std::vector<PortId> told;
  Forwarder& forwarder = lab_.fabric.forwarder();
  forwarder.OnInterference([&](PortId port) { told.push_back(port); });
  BlindTap tap;
  forwarder.AddTap(tap);
  EXPECT_THAT(told, ElementsAre(kNoPort));
  EXPECT_FALSE(Find(kKind).has_value());
  forwarder.RemoveTap(tap);
  EXPECT_TRUE(Find(kKind).has_value());
  lab_.AddFault(lab_.Host(2), 1, Fabric::Direction::kReceive, {.loss = 1});
  EXPECT_THAT(told, ElementsAre(kNoPort, lab_.PortOf("host-2", 1).peer));
  EXPECT_FALSE(Find(kKind).has_value());
}

struct Obstacle {
  const char* name;
  std::function<void(Lab&)> put;
};

class ObstacleTest : public ClearPathTest,
                     public ::testing::WithParamInterface<Obstacle> {};

// Nothing here leaves a packet as it is, so the forwarder is the judge.
TEST_P(ObstacleTest, WhatEndsAPacketIsNotClear) {
  ASSERT_TRUE(Arrives(kKind));
  ASSERT_TRUE(Find(kKind).has_value());
  GetParam().put(lab_);
  EXPECT_FALSE(Find(kKind).has_value());
  EXPECT_FALSE(Arrives(kKind));
}

void Enforce(NodePort& port, bool inbound) {
  (inbound ? port.info.partition_enforcement_inbound
           : port.info.partition_enforcement_outbound) = true;
  port.SetPKey(0, 0x1234);
}

INSTANTIATE_TEST_SUITE_P(
    Each, ObstacleTest,
    ::testing::Values(
        Obstacle{"a cut cable",
                 [](Lab& lab) { lab.SetLink(lab.Switch(2), 1, false); }},
        Obstacle{"a node that is off",
                 [](Lab& lab) { lab.fabric.SetNode(lab.Switch(2), false); }},
        Obstacle{"a port to send from that is not active",
                 [](Lab& lab) {
                   lab.PortOf("sw1", 2).info.port_state = mad::PortState::kInit;
                 }},
        Obstacle{"a port to receive at that is not active",
                 [](Lab& lab) {
                   lab.PortOf("host-2", 1).info.port_state =
                       mad::PortState::kInit;
                 }},
        Obstacle{"no entry in a forwarding table",
                 [](Lab& lab) {
                   lab.subnet()
                       .node(lab.Switch(2))
                       .sw->linear.Set(Lid{2}, LinearTable::kNoPort);
                 }},
        Obstacle{"a table that ends before the LID",
                 [](Lab& lab) {
                   lab.subnet().node(lab.Switch(2)).sw->info.linear_fdb_top = 1;
                 }},
        Obstacle{"a way back",
                 [](Lab& lab) {
                   lab.subnet().node(lab.Switch(2)).sw->linear.Set(Lid{2}, 1);
                 }},
        Obstacle{"a switch as the destination",
                 [](Lab& lab) {
                   lab.subnet().node(lab.Switch(2)).sw->linear.Set(Lid{2}, 0);
                 }},
        Obstacle{"a LID of another port",
                 [](Lab& lab) { lab.PortOf("host-2", 1).info.lid = Lid{9}; }},
        Obstacle{"an SL that has no lane",
                 [](Lab& lab) {
                   NodePort& port = lab.PortOf("sw2", 2);
                   port.Tables().sl_to_vl.resize(3);
                   for (auto& lanes : port.Tables().sl_to_vl) lanes.fill(15);
                 }},
        Obstacle{"a partition that is not let in",
                 [](Lab& lab) { Enforce(lab.PortOf("sw2", 1), true); }},
        Obstacle{"a partition that is not let out",
                 [](Lab& lab) { Enforce(lab.PortOf("sw2", 2), false); }},
        Obstacle{"a fault that loses all",
                 [](Lab& lab) {
                   lab.AddFault(lab.Switch(2), 2, Fabric::Direction::kTransmit,
                                {.loss = 1});
                 }}),
    [](const auto& test) {
      std::string name = test.param.name;
      for (char& letter : name) {
        if (letter == ' ') letter = '_';
      }
      return name;
    });

TEST_F(ClearPathTest, APortThatAPacketWouldWakeIsNotClear) {
  lab_.PortOf("sw2", 1).info.port_state = mad::PortState::kArmed;
  EXPECT_FALSE(Find(kKind).has_value());
  EXPECT_TRUE(Arrives(kKind));
  EXPECT_TRUE(Find(kKind).has_value());
}

TEST_F(ClearPathTest, PacketsLongerThanTheNarrowestLinkTakesDoNotArrive) {
  lab_.PortOf("sw2", 2).info.neighbor_mtu = 2;
  ASSERT_EQ(Find(kKind)->mtu, 512u);
  EXPECT_TRUE(Arrives(kKind, 512));
  EXPECT_FALSE(Arrives(kKind, 516));
}

}  // namespace
}  // namespace ibemu::fabric
