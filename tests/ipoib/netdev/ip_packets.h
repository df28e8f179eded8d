// IP packets as kernels make them, and changed ones.
#ifndef IBEMU_TESTS_IPOIB_NETDEV_IP_PACKETS_H_
#define IBEMU_TESTS_IPOIB_NETDEV_IP_PACKETS_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "ipoib/wire/checksum.h"
#include "ipoib/wire/ip_headers.h"
#include "tests/ipoib/packets.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// A packet of a test's datagrams, without its encapsulation.
inline std::vector<std::byte> PacketIn(std::string_view hex) {
  return FromHex(hex.substr(2 * wire::kBytes<Encapsulation>));
}

// A packet of UDP with so many bytes behind the IP header.
inline std::vector<std::byte> UdpPacket(const wire::IpAddress& from,
                                        const wire::IpAddress& to,
                                        size_t bytes = 16) {
  constexpr uint8_t kUdp = 17;
  std::vector<std::byte> packet;
  if (from.is_ipv4()) {
    wire::Append(Ipv4Header{.total_bytes = static_cast<uint16_t>(
                                wire::kBytes<Ipv4Header> + bytes),
                            .protocol = IpProtocol{kUdp},
                            .source = from.ipv4(),
                            .destination = to.ipv4()},
                 packet);
    wire::Put<&Ipv4Header::checksum>(packet, Checksum(packet));
  } else {
    wire::Append(Ipv6Header{.payload_bytes = static_cast<uint16_t>(bytes),
                            .next_header = IpProtocol{kUdp},
                            .source = from.bytes,
                            .destination = to.bytes},
                 packet);
  }
  packet.resize(packet.size() + bytes, std::byte{0x55});
  return packet;
}

// Reports as Linux sends them: joins 239.1.2.3 by IGMPv3, leaves it; joins
// ff15::1234 by MLDv2.
constexpr std::string_view kIgmpJoin =
    "46c000280000400001023efdc6120001e0000016940400002200eaf60000000104000000"
    "ef010203";
constexpr std::string_view kIgmpLeave =
    "46c000280000400001023efdc6120001e0000016940400002200ebf60000000103000000"
    "ef010203";
constexpr std::string_view kMldJoin =
    "6000000000240001fd1be000000000000000000000000001ff020000000000000000000000"
    "00"
    "00163a000502000001008f0000000000000104000000ff1500000000000000000000000012"
    "34";

constexpr wire::IpAddress kGroup = wire::IpAddress::Ipv4(0xef010203);
constexpr wire::IpAddress kGroup6 = wire::IpAddress::Ipv6(
    {0xff, 0x15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34});

}  // namespace ibemu::ipoib

#endif  // IBEMU_TESTS_IPOIB_NETDEV_IP_PACKETS_H_
