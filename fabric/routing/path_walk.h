// A path, walked through the forwarding tables as a packet would.
#ifndef IBEMU_FABRIC_ROUTING_PATH_WALK_H_
#define IBEMU_FABRIC_ROUTING_PATH_WALK_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// Where a path enters and leaves a node; kNoPort at its ends.  A switch's port
// 0 counts as a port.
struct PathHop {
  PortId entry = kNoPort, exit = kNoPort;
};

struct Path {
  uint8_t mtu = 0;   // the smallest on the way, as PathRecord's code
  uint8_t rate = 0;  // the slowest, as PathRecord's code
};

// From one end port to another that owns `dlid`.  nullopt: a packet would not
// get there.  Appends what it crosses to `hops`, if there is a list.
std::optional<Path> WalkPath(const Subnet& subnet, PortId from, wire::Lid dlid,
                             PortId to, std::vector<PathHop>* hops = nullptr);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_PATH_WALK_H_
