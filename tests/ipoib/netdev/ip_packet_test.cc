#include "ipoib/netdev/ip_packet.h"

#include <gtest/gtest.h>

#include "tests/ipoib/netdev/ip_packets.h"

namespace ibemu::ipoib {
namespace {

TEST(IpPacketTest, EchoRequestsOfBothVersionsAreRead) {
  const auto bytes = PacketIn(kEchoRequest);
  const auto packet = ParseIpPacket(bytes);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->source, kIpOne);
  EXPECT_EQ(packet->destination, kIpTwo);
  EXPECT_EQ(packet->type(), EtherType::kIpv4);
  EXPECT_EQ(packet->payload.size(), 13u);
  const auto bytes6 = PacketIn(kEchoRequest6);
  const auto packet6 = ParseIpPacket(bytes6);
  ASSERT_TRUE(packet6);
  EXPECT_EQ(packet6->source, kIp6One);
  EXPECT_EQ(packet6->destination, kIp6Two);
  EXPECT_EQ(packet6->protocol, 58);
  EXPECT_EQ(Encapsulate(packet6->type(), bytes6), FromHex(kEchoRequest6));
}

TEST(IpPacketTest, HopByHopOptionsArePassedOver) {
  const auto bytes = FromHex(kMldJoin);
  const auto packet = ParseIpPacket(bytes);
  ASSERT_TRUE(packet);
  EXPECT_EQ(packet->protocol, 58);
  EXPECT_EQ(packet->payload.size(), 28u);
}

TEST(IpPacketTest, APacketThatIsCutAnywhereIsNone) {
  for (const auto& whole : {PacketIn(kEchoRequest), PacketIn(kEchoRequest6),
                            FromHex(kIgmpJoin), FromHex(kMldJoin)}) {
    ASSERT_TRUE(ParseIpPacket(whole));
    for (size_t size = 0; size < whole.size(); ++size) {
      EXPECT_FALSE(ParseIpPacket(std::span(whole).first(size))) << size;
    }
  }
}

TEST(IpPacketTest, HeadersThatLieAreRefused) {
  auto packet = PacketIn(kEchoRequest);
  packet[0] = std::byte{0x44};  // a header of 16 bytes
  EXPECT_FALSE(ParseIpPacket(packet));
  packet[0] = std::byte{0x4f};  // of 60
  EXPECT_FALSE(ParseIpPacket(packet));
  packet[0] = std::byte{0x55};  // version 5
  EXPECT_FALSE(ParseIpPacket(packet));
  auto options = FromHex(kMldJoin);
  options[wire::kBytes<Ipv6Header> + 1] = std::byte{0xff};
  EXPECT_FALSE(ParseIpPacket(options));
}

}  // namespace
}  // namespace ibemu::ipoib
