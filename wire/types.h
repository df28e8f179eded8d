// The small types that all management structures use.
#ifndef IBEMU_WIRE_TYPES_H_
#define IBEMU_WIRE_TYPES_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::wire {

// A local identifier (IBA vol 1 §4.1.3): unicast 1 to 0xbfff, multicast 0xc000
// to 0xfffe.
enum class Lid : uint16_t {
  kUnassigned = 0,
  kLastUnicast = 0xbfff,
  kFirstMulticast = 0xc000,
  kPermissive = 0xffff,
};

constexpr bool IsUnicast(Lid lid) {
  return lid != Lid::kUnassigned && lid <= Lid::kLastUnicast;
}
constexpr bool IsMulticast(Lid lid) {
  return lid >= Lid::kFirstMulticast && lid != Lid::kPermissive;
}

// The EUI-64 of a node or port.
enum class Guid : uint64_t {};

// A global identifier (IBA vol 1 §4.1.1).
struct Gid {
  static constexpr int kBits = 128;

  uint64_t prefix = 0;
  uint64_t interface_id = 0;
  bool operator==(const Gid&) const = default;

  static constexpr auto Layout() {
    return wire::Table(wire::Rw(&Gid::prefix, "Prefix", 64, 0),
                       wire::Rw(&Gid::interface_id, "InterfaceID", 64, 64));
  }
};
static_assert(wire::Tiles<Gid>());

constexpr bool IsMulticast(const Gid& gid) { return gid.prefix >> 56 == 0xff; }

// The bit of a P_Key that full members of its partition have, and limited ones
// lack.
inline constexpr uint16_t kFullMembership = 0x8000;

// Returns true if these P_Keys are of one partition, whatever the membership.
constexpr bool IsSamePartition(uint16_t a, uint16_t b) {
  return (a | kFullMembership) == (b | kFullMembership) &&
         (a & ~kFullMembership) != 0;
}

// Returns true if holders of these P_Keys may talk: IBA vol 1 §10.9.3.  Full
// members of a partition may talk to all members, limited members only to full
// members.
constexpr bool MayTalk(uint16_t a, uint16_t b) {
  return IsSamePartition(a, b) && ((a | b) & kFullMembership) != 0;
}

// Returns true if a port whose table has `entry` may send with `p_key`: the
// same partition, and no more than its own membership.  A switch that enforces
// partitions asks this of what comes in: IBA vol 1 §18.2.4.2.
constexpr bool MaySend(uint16_t entry, uint16_t p_key) {
  return (p_key & 0x7fff) != 0 && (p_key == entry || (p_key | 0x8000) == entry);
}

// The prefix of link-local GIDs, and of a subnet whose manager chose none.
inline constexpr uint64_t kDefaultGidPrefix = 0xfe80'0000'0000'0000;

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_TYPES_H_
