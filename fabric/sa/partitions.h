// Comparison of the P_Key tables of ports: which of them may talk to each
// other.
#ifndef IBEMU_FABRIC_SA_PARTITIONS_H_
#define IBEMU_FABRIC_SA_PARTITIONS_H_

#include <cstdint>

#include "fabric/subnet/node.h"

namespace ibemu::fabric {

// The bit of a P_Key that a full member's has; the others name the partition
// (IBA vol 1 §10.9.1.1).
inline constexpr uint16_t kFullMemberBit = 0x8000;

// Returns a P_Key under which `a` and `b` may talk (a full one if either is a
// full member), or 0 if there is none.
uint16_t CommonPKey(const NodePort& a, const NodePort& b);

// Returns true if `a` and `b` may know of each other: they have such a P_Key,
// or are the same port, which may be a limited member only.
bool ShareAPKey(const NodePort& a, const NodePort& b);

// Returns true if both are members of the partition of `p_key`, and at least
// one is a full member.
bool ShareThisPKey(const NodePort& a, const NodePort& b, uint16_t p_key);

// Returns true if the port is a full or limited member of the partition.
bool IsInPartition(const NodePort& port, uint16_t p_key);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_PARTITIONS_H_
