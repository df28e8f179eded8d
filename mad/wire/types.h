// The small types that every management structure uses.
#ifndef IBEMU_MAD_WIRE_TYPES_H_
#define IBEMU_MAD_WIRE_TYPES_H_

#include <cstdint>

namespace ibemu::mad {

// Local identifier, IBA vol 1 §4.1.3: unicast 1 to 0xbfff, multicast up to
// 0xfffe.
enum class Lid : uint16_t { kUnassigned = 0, kPermissive = 0xffff };

// EUI-64 of a node or port.
enum class Guid : uint64_t {};

// Global identifier, IBA vol 1 §4.1.1.
struct Gid {
  uint64_t prefix = 0;
  uint64_t interface_id = 0;
  bool operator==(const Gid&) const = default;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_TYPES_H_
