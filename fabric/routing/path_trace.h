// PathTrace: the path that a packet would take, and where it would end.
#ifndef IBEMU_FABRIC_ROUTING_PATH_TRACE_H_
#define IBEMU_FABRIC_ROUTING_PATH_TRACE_H_

#include <optional>
#include <vector>

#include "fabric/routing/path_walk.h"
#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// The result of TracePath().
struct PathTrace {
  // The nodes on the path, including the first and the last.  If the path ends
  // at an egress port, the last hop has that port.
  std::vector<PathHop> hops;
  // The reason why the path ends early, as the forwarder would report it
  // (DropCause) for a packet that is not an SMP; nullopt if the packet arrives.
  std::optional<DropCause> end;
};

// Traces a unicast packet from an adapter's port or a switch's port 0 to
// `dlid`.  It uses the present states and tables, and ignores faults,
// partitions and MTUs.
PathTrace TracePath(const Subnet& subnet, PortId from, wire::Lid dlid);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_PATH_TRACE_H_
