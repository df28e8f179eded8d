#include "daemon/capture/mad_packet.h"

#include <gtest/gtest.h>

#include "mad/wire/smp.h"
#include "testing/fake_device.h"

namespace ibemu::daemon {
namespace {

using mad::MgmtClass;
using wire::Lid;

constexpr Lid kOwn{0x10}, kPeer{0x20};

class MadPacketTest : public ::testing::Test {
 protected:
  MadPacketTest() {
    port_.info.lid = kOwn;
    port_.info.lmc = 2;
  }

  // A directed route, as agents send and get it.
  static mad::MadBytes Directed(int hops, bool returning,
                                Lid dr_slid = Lid::kPermissive,
                                Lid dr_dlid = Lid::kPermissive) {
    mad::Smp smp{.mgmt_class = MgmtClass::kSubnetDirectedRoute,
                 .direction = returning,
                 .hop_count = static_cast<uint8_t>(hops),
                 .dr_slid = dr_slid,
                 .dr_dlid = dr_dlid};
    mad::MadBytes bytes{};
    wire::Encode(smp, bytes);
    return bytes;
  }
  static mad::MadBytes OfClass(MgmtClass mgmt_class) {
    mad::MadBytes bytes{};
    wire::Encode(mad::MadHeader{.mgmt_class = mgmt_class}, bytes);
    return bytes;
  }

  testing::FakeDevice device_;
  testing::FakePort& port_ = device_.port(1);
};

TEST_F(MadPacketTest, AGmpHasTheAddressOfItsHandle) {
  port_.pkeys = {0xffff, 0x8001};
  const mad::Outgoing sent{
      .qp = 1,
      .to = {.dlid = kPeer, .sl = 3, .path_bits = 6, .pkey_index = 1, .qpn = 1},
      .mad = OfClass(MgmtClass::kPerformance)};
  const fabric::Packet packet = PacketOf(sent, port_);
  EXPECT_FALSE(packet.vl15);
  EXPECT_EQ(packet.slid, Lid{0x12}) << "two path bits";
  EXPECT_EQ(packet.dlid, kPeer);
  EXPECT_EQ(packet.sl, 3);
  EXPECT_EQ(packet.p_key, 0x8001);
  EXPECT_EQ(packet.q_key, mad::kQp1QKey);
  EXPECT_EQ(packet.source_qpn, 1u);
  EXPECT_EQ(packet.destination_qpn, 1u);
  EXPECT_FALSE(packet.grh.has_value());
  EXPECT_EQ(packet.mad, sent.mad);
}

TEST_F(MadPacketTest, AnArrivalCameToALidOfThePort) {
  const mad::Arrival received{.qp = 1,
                              .slid = kPeer,
                              .sl = 2,
                              .path_bits = 1,
                              .source_qpn = 77,
                              .mad = OfClass(MgmtClass::kPerformance)};
  const fabric::Packet packet = PacketOf(received, port_);
  EXPECT_EQ(packet.slid, kPeer);
  EXPECT_EQ(packet.dlid, Lid{0x11});
  EXPECT_EQ(packet.sl, 2);
  EXPECT_EQ(packet.source_qpn, 77u);
  EXPECT_EQ(packet.destination_qpn, 1u);
  EXPECT_EQ(packet.mad, received.mad);
}

TEST_F(MadPacketTest, AGlobalRouteHasBothGids) {
  const wire::Gid peer{.prefix = 5, .interface_id = 6};
  const mad::GlobalRoute route{.gid = peer,
                               .flow_label = 9,
                               .gid_index = 0,
                               .hop_limit = 64,
                               .traffic_class = 4};
  const fabric::Packet sent = PacketOf(
      mad::Outgoing{.qp = 1, .to = {.dlid = kPeer, .grh = route}}, port_);
  ASSERT_TRUE(sent.grh.has_value());
  EXPECT_EQ(sent.grh->sgid, port_.GidAt(0));
  EXPECT_EQ(sent.grh->dgid, peer);
  EXPECT_EQ(sent.grh->flow_label, 9u);
  EXPECT_EQ(sent.grh->hop_limit, 64);
  EXPECT_EQ(sent.grh->traffic_class, 4);
  const fabric::Packet received =
      PacketOf(mad::Arrival{.qp = 1, .slid = kPeer, .grh = route}, port_);
  ASSERT_TRUE(received.grh.has_value());
  EXPECT_EQ(received.grh->sgid, peer);
  EXPECT_EQ(received.grh->dgid, port_.GidAt(0));
}

TEST_F(MadPacketTest, AnSmpIsOnLane15) {
  const fabric::Packet packet =
      PacketOf(mad::Outgoing{.qp = 0,
                             .to = {.dlid = kPeer, .sl = 5},
                             .mad = OfClass(MgmtClass::kSubnetLidRouted)},
               port_);
  EXPECT_TRUE(packet.vl15);
  EXPECT_EQ(packet.sl, 0);
  EXPECT_EQ(packet.p_key, fabric::Packet::kFullPKey);
  EXPECT_EQ(packet.q_key, 0u);
  EXPECT_EQ(packet.dlid, kPeer);
  port_.info.lid = Lid::kUnassigned;
  EXPECT_EQ(PacketOf(mad::Arrival{.qp = 0, .slid = kPeer}, port_).dlid,
            Lid::kPermissive);
}

TEST_F(MadPacketTest, ADirectedRouteHasPermissiveLids) {
  const auto sent = [&](const mad::MadBytes& smp) {
    return PacketOf(mad::Outgoing{.qp = 0, .to = {.dlid = kPeer}, .mad = smp},
                    port_);
  };
  const auto received = [&](const mad::MadBytes& smp) {
    return PacketOf(mad::Arrival{.qp = 0, .slid = kPeer, .mad = smp}, port_);
  };
  EXPECT_EQ(sent(Directed(2, false)).dlid, Lid::kPermissive);
  EXPECT_EQ(sent(Directed(2, false)).slid, kOwn) << "as adapters send it";
  EXPECT_EQ(received(Directed(2, true)).dlid, Lid::kPermissive);
  const fabric::Packet local = sent(Directed(0, false));
  EXPECT_EQ(local.slid, Lid::kPermissive);
  EXPECT_EQ(local.dlid, Lid::kPermissive);
}

TEST_F(MadPacketTest, APartByLidHasLids) {
  const mad::MadBytes from_lid = Directed(2, false, kOwn, Lid::kPermissive);
  EXPECT_EQ(
      PacketOf(mad::Outgoing{.qp = 0, .to = {.dlid = kPeer}, .mad = from_lid},
               port_)
          .dlid,
      kPeer)
      << "by LID to where the directed part begins";
  EXPECT_EQ(
      PacketOf(mad::Arrival{.qp = 0, .slid = kPeer, .mad = from_lid}, port_)
          .dlid,
      Lid::kPermissive);
  const mad::MadBytes to_lid = Directed(2, true, kOwn, Lid::kPermissive);
  EXPECT_EQ(
      PacketOf(mad::Arrival{.qp = 0, .slid = kPeer, .mad = to_lid}, port_).dlid,
      kOwn);
}

}  // namespace
}  // namespace ibemu::daemon
