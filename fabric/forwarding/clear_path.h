// ClearPath: a path on which the fabric does nothing to packets but count them.
#ifndef IBEMU_FABRIC_FORWARDING_CLEAR_PATH_H_
#define IBEMU_FABRIC_FORWARDING_CLEAR_PATH_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/packet/packet.h"
#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// A PacketKind is what decides, beside the port where they start, what becomes
// of unicast packets of ordinary queue pairs.
struct PacketKind {
  wire::Lid dlid{};
  uint8_t sl = 0;
  uint16_t p_key = 0;

  bool operator==(const PacketKind&) const = default;
  template <typename H>
  friend H AbslHashValue(H hash, const PacketKind& kind) {
    return H::combine(std::move(hash), kind.dlid, kind.sl, kind.p_key);
  }
};

// Returns nullopt for MADs and for multicast packets.
std::optional<PacketKind> KindOf(const Packet& packet);

// A ClearPath is what a Forwarder would do to all packets of a kind that are no
// longer than `mtu`.
struct ClearPath {
  struct Link {
    PortId out = kNoPort;  // the end through which packets leave
    uint8_t vl = 0;
    bool operator==(const Link&) const = default;
  };

  std::vector<Link> links;
  PortId end = kNoPort;  // the adapter's port to which the last one leads
  size_t mtu = 0;        // bytes of payload that every link takes

  bool operator==(const ClearPath&) const = default;
};

// Follows packets of this kind from an adapter's port to another adapter's.
// Returns nullopt if a node on the path would do anything else than to carry
// them on: drop them, wake an ARMED port, or look for faults.
std::optional<ClearPath> FindClearPath(const Subnet& subnet, PortId from,
                                       const PacketKind& kind);

// Counts packets that took this path elsewhere as if each port on it had seen
// them.  `words`: of 4 bytes, from LRH to ICRC, of all packets.
void CountOn(const ClearPath& path, const PacketKind& kind, uint64_t packets,
             uint64_t words, Subnet& subnet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_CLEAR_PATH_H_
