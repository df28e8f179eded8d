// Neighbour discovery: RFC 4861 §4.3, §4.4, with the link-layer address of RFC
// 4391 §9.3.
#ifndef IBEMU_IPOIB_WIRE_NEIGHBOR_DISCOVERY_H_
#define IBEMU_IPOIB_WIRE_NEIGHBOR_DISCOVERY_H_

#include <cstdint>

#include "ipoib/wire/hardware_address.h"
#include "ipoib/wire/ip_headers.h"
#include "wire/layout.h"

namespace ibemu::ipoib {

// A neighbour solicitation or advertisement, as far as the options.
struct NeighborHeader {
  static constexpr int kBits = 192;

  IcmpHeader icmp;
  // Of an advertisement: from a router, an answer, outweighs what is known.
  bool router = false, solicited = false, overrides = false;
  Ipv6Bytes target{};

  static constexpr auto Layout() {
    using T = NeighborHeader;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::icmp, "ICMP", 32, 0), Rw(&T::router, "R", 1, 32),
                       Rw(&T::solicited, "S", 1, 33),
                       Rw(&T::overrides, "O", 1, 34), Reserved(29, 35),
                       Rw(&T::target, "TargetAddress", 128, 64));
  }
};
static_assert(wire::Tiles<NeighborHeader>());

// The types of options with a link-layer address (RFC 4861 §4.6.1): the
// sender's, or that of the target.
enum class NeighborOption : uint8_t {
  kSourceLinkLayerAddress = 1,
  kTargetLinkLayerAddress = 2,
};

// The option with a link-layer address.
struct LinkLayerOption {
  static constexpr int kBits = 192;
  static constexpr uint8_t kUnits = kBits / 64;

  NeighborOption type{};
  uint8_t units = kUnits;  // of 8 bytes
  HardwareAddress address;

  static constexpr auto Layout() {
    using T = LinkLayerOption;
    using wire::Reserved, wire::Rw;
    return wire::Table(Rw(&T::type, "Type", 8, 0),
                       Rw(&T::units, "Length", 8, 8), Reserved(16, 16),
                       Rw(&T::address, "LinkLayerAddress", 160, 32));
  }
};
static_assert(wire::Tiles<LinkLayerOption>());

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_NEIGHBOR_DISCOVERY_H_
