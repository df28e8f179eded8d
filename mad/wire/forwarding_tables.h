// Forwarding tables of switches: IBA vol 1 §14.2.5.10 to §14.2.5.12.
#ifndef IBEMU_MAD_WIRE_FORWARDING_TABLES_H_
#define IBEMU_MAD_WIRE_FORWARDING_TABLES_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The egress ports of 64 LIDs, from LID 64 * attribute modifier on.
struct LinearForwardingTable {
  static constexpr AttributeId kId = AttributeId::kLinearForwardingTable;
  static constexpr int kBits = 512;

  std::array<uint8_t, 64> ports{};

  bool operator==(const LinearForwardingTable&) const = default;

  static constexpr auto Layout() {
    using T = LinearForwardingTable;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::ports, "Port", 512, 0));
  }
};
static_assert(wire::Tiles<LinearForwardingTable>());

// The egress port of the 2^LMC LIDs from `lid` on.
struct RandomForwardingEntry {
  static constexpr int kBits = 32;

  wire::Lid lid{};
  bool valid = false;
  uint8_t lmc = 0;
  uint8_t port = 0;

  bool operator==(const RandomForwardingEntry&) const = default;

  static constexpr auto Layout() {
    using T = RandomForwardingEntry;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::lid, "LID", 16, 0), Rw(&T::valid, "Valid", 1, 16),
        Rw(&T::lmc, "LMC", 3, 17), Reserved(4, 20),
        Rw(&T::port, "Port", 8, 24));
  }
};
static_assert(wire::Tiles<RandomForwardingEntry>());

// A block of 16 entries; the attribute modifier is its number.
struct RandomForwardingTable {
  static constexpr AttributeId kId = AttributeId::kRandomForwardingTable;
  static constexpr int kBits = 512;

  std::array<RandomForwardingEntry, 16> entries{};

  bool operator==(const RandomForwardingTable&) const = default;

  static constexpr auto Layout() {
    using T = RandomForwardingTable;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::entries, "LID/Port", 512, 0));
  }
};
static_assert(wire::Tiles<RandomForwardingTable>());

// The port masks of 32 LIDs, from 0xc000 + 32 * (bits 0 to 8 of the attribute
// modifier) on.  A mask covers 16 ports, from 16 * position on; the position is
// in bits 28 to 31 of the modifier.
struct MulticastForwardingTable {
  static constexpr AttributeId kId = AttributeId::kMulticastForwardingTable;
  static constexpr int kBits = 512;

  std::array<uint16_t, 32> port_masks{};

  bool operator==(const MulticastForwardingTable&) const = default;

  static constexpr auto Layout() {
    using T = MulticastForwardingTable;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::port_masks, "PortMask", 512, 0));
  }
};
static_assert(wire::Tiles<MulticastForwardingTable>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_FORWARDING_TABLES_H_
