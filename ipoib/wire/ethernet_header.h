// EthernetHeader: the start of a frame of IEEE 802.3.
#ifndef IBEMU_IPOIB_WIRE_ETHERNET_HEADER_H_
#define IBEMU_IPOIB_WIRE_ETHERNET_HEADER_H_

#include <array>
#include <cstdint>

#include "ipoib/wire/hardware_address.h"
#include "wire/layout.h"

namespace ibemu::ipoib {

using MacAddress = std::array<uint8_t, 6>;

// Returns true for the address of several: a group's, or everybody's.
constexpr bool IsGroup(const MacAddress& address) {
  return (address[0] & 1) != 0;
}

// An EthernetHeader is the header of a frame without a VLAN tag.  The payload
// follows, and no frame check sequence.
struct EthernetHeader {
  static constexpr int kBits = 112;

  MacAddress destination{}, source{};
  EtherType type{};

  static constexpr auto Layout() {
    using T = EthernetHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::destination, "DestinationAddress", 48, 0),
                       Rw(&T::source, "SourceAddress", 48, 48),
                       Rw(&T::type, "EtherType", 16, 96));
  }
};
static_assert(wire::Tiles<EthernetHeader>());

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_ETHERNET_HEADER_H_
