// MulticastRoutes: the service that subnet administration needs from the subnet
// manager for its groups.
#ifndef IBEMU_FABRIC_SM_MULTICAST_ROUTES_H_
#define IBEMU_FABRIC_SM_MULTICAST_ROUTES_H_

#include <vector>

#include "fabric/subnet/node.h"
#include "mad/address.h"

namespace ibemu::fabric {

// The members of one multicast LID, each once.  They are end ports (on a
// switch: port 0).
struct MlidMembers {
  std::vector<PortId> receivers;  // full members and non-members
  std::vector<PortId> senders;    // send-only members that are not receivers
};

// The router of multicast LIDs.
class MulticastRoutes {
 public:
  virtual ~MulticastRoutes() = default;

  // Replaces the routes of `mlid`; an empty list removes them.  The manager
  // keeps the members, and routes them again when links come and go.
  virtual void SetMembers(wire::Lid mlid, MlidMembers members) = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_MULTICAST_ROUTES_H_
