// HardwareAddress and Encapsulation: the address and the header that IPoIB has
// in place of Ethernet's.  RFC 4391 §6 and §9.1.1.
#ifndef IBEMU_IPOIB_WIRE_HARDWARE_ADDRESS_H_
#define IBEMU_IPOIB_WIRE_HARDWARE_ADDRESS_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::ipoib {

// The protocol of a packet, as in Ethernet.
enum class EtherType : uint16_t {
  kIpv4 = 0x0800,
  kArp = 0x0806,
  kTransparentBridging = 0x6558,  // a frame of Ethernet: RFC 1701
  kIpv6 = 0x86dd,
  kExperiment = 0x88b5,  // IEEE 802, local experiments
};

// The header of each packet.
struct Encapsulation {
  static constexpr int kBits = 32;

  EtherType type{};

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&Encapsulation::type, "Type", 16, 0),
                       wire::Reserved(16, 16));
  }
};
static_assert(wire::Tiles<Encapsulation>());

// Returns true for an IP packet behind its header.
inline bool IsIp(std::span<const std::byte> datagram) {
  if (datagram.size() <= wire::kBytes<Encapsulation>) return false;
  const EtherType type = wire::Get<&Encapsulation::type>(datagram);
  return type == EtherType::kIpv4 || type == EtherType::kIpv6;
}

// The address of an interface.
struct HardwareAddress {
  static constexpr int kBits = 160;

  uint8_t flags = 0;  // 0x80: it has connected mode over RC, 0x40: over UC
  uint32_t qpn = 0;
  wire::Gid gid;

  bool operator==(const HardwareAddress&) const = default;

  static constexpr auto Layout() {
    using T = HardwareAddress;
    using wire::Rw;
    return wire::Table(Rw(&T::flags, "Flags", 8, 0), Rw(&T::qpn, "QPN", 24, 8),
                       Rw(&T::gid, "GID", 128, 32));
  }
};
static_assert(wire::Tiles<HardwareAddress>());

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_HARDWARE_ADDRESS_H_
