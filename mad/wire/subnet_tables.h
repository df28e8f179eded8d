// The tables of a port: IBA vol 1 §14.2.5.5 and §14.2.5.7 to §14.2.5.9.
#ifndef IBEMU_MAD_WIRE_SUBNET_TABLES_H_
#define IBEMU_MAD_WIRE_SUBNET_TABLES_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// A block of 8 GUIDs; the attribute modifier is its number.  Entry 0 of block 0
// is read-only.
struct GuidInfo {
  static constexpr AttributeId kId = AttributeId::kGuidInfo;
  static constexpr int kBits = 512;

  std::array<uint64_t, 8> guids{};

  bool operator==(const GuidInfo&) const = default;

  static constexpr auto Layout() {
    using T = GuidInfo;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::guids, "GUID", 512, 0));
  }
};
static_assert(wire::Tiles<GuidInfo>());

// A block of 32 P_Keys.  The attribute modifier is its number, on switches with
// the port in the bits from 16 up.  Bit 15 of a key means full member; a key of
// 0 is an empty entry.
struct PKeyTable {
  static constexpr AttributeId kId = AttributeId::kPKeyTable;
  static constexpr int kBits = 512;

  std::array<uint16_t, 32> p_keys{};

  bool operator==(const PKeyTable&) const = default;

  static constexpr auto Layout() {
    using T = PKeyTable;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::p_keys, "P_Key", 512, 0));
  }
};
static_assert(wire::Tiles<PKeyTable>());

// The VL of each SL.  On switches the attribute modifier has the egress port in
// bits 0 to 7 and the ingress port in the bits from 8 up.
struct SlToVlMappingTable {
  static constexpr AttributeId kId = AttributeId::kSlToVlMappingTable;
  static constexpr int kBits = 64;

  std::array<uint8_t, 16> vls{};

  bool operator==(const SlToVlMappingTable&) const = default;

  static constexpr auto Layout() {
    using T = SlToVlMappingTable;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::vls, "SLtoVL", 64, 0));
  }
};
static_assert(wire::Tiles<SlToVlMappingTable>());

// An entry of an arbitration table: how much a VL may send when it has its
// turn.
struct VlArbitrationEntry {
  static constexpr int kBits = 16;

  uint8_t vl = 0;
  uint8_t weight = 0;  // in units of 64 bytes; 0: skip

  bool operator==(const VlArbitrationEntry&) const = default;

  static constexpr auto Layout() {
    using T = VlArbitrationEntry;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(4, 0), Rw(&T::vl, "VL", 4, 4), Rw(&T::weight, "Weight", 8, 8));
  }
};
static_assert(wire::Tiles<VlArbitrationEntry>());

// Half of an arbitration table.  The attribute modifier has the half (1, 2: low
// priority; 3, 4: high) in the bits from 16 up and, on switches, the port
// below.
struct VlArbitrationTable {
  static constexpr AttributeId kId = AttributeId::kVlArbitrationTable;
  static constexpr int kBits = 512;

  std::array<VlArbitrationEntry, 32> entries{};

  bool operator==(const VlArbitrationTable&) const = default;

  static constexpr auto Layout() {
    using T = VlArbitrationTable;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::entries, "VL/Weight", 512, 0));
  }
};
static_assert(wire::Tiles<VlArbitrationTable>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SUBNET_TABLES_H_
