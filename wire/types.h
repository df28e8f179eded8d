// The small types that every management structure uses.
#ifndef IBEMU_WIRE_TYPES_H_
#define IBEMU_WIRE_TYPES_H_

#include <cstdint>

#include "wire/layout.h"

namespace ibemu::wire {

// Local identifier, IBA vol 1 §4.1.3: unicast 1 to 0xbfff, multicast 0xc000 to
// 0xfffe.
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

// EUI-64 of a node or port.
enum class Guid : uint64_t {};

// Global identifier, IBA vol 1 §4.1.1.
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

// Whether two P_Keys may talk.  A partition has members that all may talk to,
// and limited ones that may talk to the former only: IBA vol 1 §10.9.3.
constexpr bool MayTalk(uint16_t a, uint16_t b) {
  constexpr unsigned kPartition = 0x7fff;  // the rest: full membership
  return (a & kPartition) != 0 && ((a ^ b) & kPartition) == 0 &&
         ((a | b) & ~kPartition) != 0;
}

// Prefix of link-local GIDs, and of a subnet whose manager chose none.
inline constexpr uint64_t kDefaultGidPrefix = 0xfe80'0000'0000'0000;

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_TYPES_H_
