// IpPacket: an IP packet as far as its way depends on it.
#ifndef IBEMU_IPOIB_NETDEV_IP_PACKET_H_
#define IBEMU_IPOIB_NETDEV_IP_PACKET_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "ipoib/wire/hardware_address.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// An IpPacket is what the header of a packet of either version says, which was
// found to be whole.
struct IpPacket {
  wire::IpAddress source, destination;
  uint8_t protocol = 0;  // of IPv6: of what follows its hop-by-hop options
  bool is_later_fragment = false;
  std::span<const std::byte> payload;  // from there on

  EtherType type() const {
    return source.is_ipv4() ? EtherType::kIpv4 : EtherType::kIpv6;
  }
};

// Returns what `bytes` are, if they are a sound packet; `payload` is a part of
// them.
std::optional<IpPacket> ParseIpPacket(std::span<const std::byte> bytes);

// Returns the datagram that carries a packet.
std::vector<std::byte> Encapsulate(EtherType type,
                                   std::span<const std::byte> packet);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_IP_PACKET_H_
