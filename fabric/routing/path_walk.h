// WalkPath(): the path that a packet takes by the forwarding tables.
#ifndef IBEMU_FABRIC_ROUTING_PATH_WALK_H_
#define IBEMU_FABRIC_ROUTING_PATH_WALK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// The ports through which a path enters and leaves a node; kNoPort at the ends
// of the path.  Port 0 of a switch counts as a port.
struct PathHop {
  PortId entry = kNoPort, exit = kNoPort;
};

// The properties of a path.
struct Path {
  uint8_t mtu = 0;   // the smallest of its links, as in PathRecord
  uint8_t rate = 0;  // of the slowest link, as in PathRecord
};

// Follows the path from one end port to another that owns `dlid`.  Returns
// nullopt if a packet would not arrive.  Appends the nodes on the path to
// `hops` unless it is null.
std::optional<Path> WalkPath(const Subnet& subnet, PortId from, wire::Lid dlid,
                             PortId to, std::vector<PathHop>* hops = nullptr);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_PATH_WALK_H_
