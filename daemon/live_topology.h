// The topology of a running fabric.
#ifndef IBEMU_DAEMON_LIVE_TOPOLOGY_H_
#define IBEMU_DAEMON_LIVE_TOPOLOGY_H_

#include "fabric/topology.h"

namespace ibemu::fabric {
class Subnet;
}  // namespace ibemu::fabric

namespace ibemu::daemon {

// What an ibnetdiscover of the fabric would find: nodes and cables as they are
// now, without those that are switched off or cut.
fabric::Topology LiveTopology(const fabric::Subnet& subnet);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_LIVE_TOPOLOGY_H_
