// Who may talk to whom: P_Key tables of ports, compared.
#ifndef IBEMU_FABRIC_SA_PARTITIONS_H_
#define IBEMU_FABRIC_SA_PARTITIONS_H_

#include <cstdint>

#include "fabric/subnet/node.h"

namespace ibemu::fabric {

// A P_Key under which `a` and `b` may talk (a full one if either is a full
// member); 0: there is none.
uint16_t CommonPKey(const NodePort& a, const NodePort& b);

// Both are members of the partition of `p_key`, and not both limited ones.
bool ShareThisPKey(const NodePort& a, const NodePort& b, uint16_t p_key);

// A member of the partition, full or limited.
bool IsInPartition(const NodePort& port, uint16_t p_key);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SA_PARTITIONS_H_
