// The topology of a running fabric.
#ifndef IBEMU_FABRIC_SUBNET_LIVE_TOPOLOGY_H_
#define IBEMU_FABRIC_SUBNET_LIVE_TOPOLOGY_H_

#include "topology/topology.h"

namespace ibemu::fabric {
class Subnet;
}  // namespace ibemu::fabric

namespace ibemu::fabric {

// Returns what ibnetdiscover would find in the fabric: nodes and cables as they
// are now, without those that are switched off or cut.
topology::Topology LiveTopology(const fabric::Subnet& subnet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_LIVE_TOPOLOGY_H_
