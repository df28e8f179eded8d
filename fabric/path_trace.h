// Which way a packet would go, and where it would end.
#ifndef IBEMU_FABRIC_PATH_TRACE_H_
#define IBEMU_FABRIC_PATH_TRACE_H_

#include <optional>
#include <vector>

#include "fabric/routing/path_walk.h"
#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

struct PathTrace {
  // The nodes on the way, the first and the last included.  Where it ends at
  // the way out of a node, that way out is there.
  std::vector<PathHop> hops;
  // Why it ends before it is there, as the forwarder would say of a packet that
  // is not management (DropCause); nullopt: it arrives.
  std::optional<DropCause> end;
};

// Of a unicast packet from an adapter's port or a switch's port 0 to `dlid`.
// Looks at states and tables as they are, not at faults, partitions and MTUs.
PathTrace TracePath(const Subnet& subnet, PortId from, wire::Lid dlid);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PATH_TRACE_H_
