#include "ipoib/netdev/icmp_error.h"

#include <gtest/gtest.h>

#include "ipoib/netdev/ip_packet.h"
#include "tests/ipoib/netdev/ip_packets.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;

IcmpErrorHeader HeaderOf(Bytes error) {
  const auto packet = ParseIpPacket(error);
  EXPECT_TRUE(packet);
  return wire::Decode<IcmpErrorHeader>(packet->payload);
}

TEST(IcmpErrorTest, AnUnreachableHostIsToldInBothVersions) {
  const auto packet = PacketIn(kEchoRequest);
  const auto error =
      MakeIcmpError(IcmpError::kHostUnreachable, 0, packet, kIpOne);
  ASSERT_TRUE(error);
  const auto parsed = ParseIpPacket(*error);
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->source, kIpOne);
  EXPECT_EQ(parsed->destination, kIpOne);
  EXPECT_EQ(Checksum(Bytes(*error).first(wire::kBytes<Ipv4Header>)), 0);
  EXPECT_EQ(Checksum(parsed->payload), 0);
  EXPECT_EQ(HeaderOf(*error).icmp.type, 3);
  EXPECT_EQ(HeaderOf(*error).icmp.code, 1);
  const auto quoted = parsed->payload.subspan(wire::kBytes<IcmpErrorHeader>);
  EXPECT_TRUE(std::ranges::equal(quoted, packet));

  const auto error6 = MakeIcmpError(IcmpError::kHostUnreachable, 0,
                                    PacketIn(kEchoRequest6), kIp6One);
  ASSERT_TRUE(error6);
  EXPECT_EQ(HeaderOf(*error6).icmp.type, 1);
  EXPECT_EQ(HeaderOf(*error6).icmp.code, 3);
  EXPECT_EQ(Icmpv6Checksum(kIp6One.bytes, kIp6One.bytes,
                           ParseIpPacket(*error6)->payload),
            0);
}

TEST(IcmpErrorTest, APacketThatIsTooBigIsToldTheMtu) {
  const auto error = MakeIcmpError(IcmpError::kTooBig, 1020,
                                   UdpPacket(kIpOne, kIpTwo, 2000), kIpOne);
  ASSERT_TRUE(error);
  EXPECT_EQ(HeaderOf(*error).icmp.type, 3);
  EXPECT_EQ(HeaderOf(*error).icmp.code, 4);
  EXPECT_EQ(HeaderOf(*error).mtu, 1020u);
  EXPECT_LE(error->size(), 576u);
  const auto error6 = MakeIcmpError(IcmpError::kTooBig, 1500,
                                    UdpPacket(kIp6One, kIp6Two, 2000), kIp6One);
  ASSERT_TRUE(error6);
  EXPECT_EQ(HeaderOf(*error6).icmp.type, 2);
  EXPECT_EQ(HeaderOf(*error6).mtu, 1500u);
}

TEST(IcmpErrorTest, NobodyIsToldOfAnErrorOrALaterFragmentOrNoPacket) {
  const auto unreachable = IcmpError::kHostUnreachable;
  const auto error =
      MakeIcmpError(unreachable, 0, PacketIn(kEchoRequest), kIpOne);
  ASSERT_TRUE(error);
  EXPECT_FALSE(MakeIcmpError(unreachable, 0, *error, kIpOne));
  const auto error6 =
      MakeIcmpError(unreachable, 0, PacketIn(kEchoRequest6), kIp6One);
  EXPECT_FALSE(MakeIcmpError(unreachable, 0, *error6, kIp6One));
  auto fragment = UdpPacket(kIpOne, kIpTwo);
  wire::Put<&Ipv4Header::fragment_offset>(fragment, uint16_t{185});
  EXPECT_FALSE(MakeIcmpError(unreachable, 0, fragment, kIpOne));
  EXPECT_FALSE(MakeIcmpError(
      unreachable, 0, UdpPacket(wire::IpAddress::Ipv4(0), kIpTwo), kIpOne));
  EXPECT_FALSE(MakeIcmpError(unreachable, 0, {}, kIpOne));
  EXPECT_FALSE(
      MakeIcmpError(unreachable, 0, UdpPacket(kIpOne, kIpTwo), kIp6One))
      << "of the other version";
}

}  // namespace
}  // namespace ibemu::ipoib
