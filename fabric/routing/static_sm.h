// --sm=static: a subnet that is configured once, by nobody.
#ifndef IBEMU_FABRIC_ROUTING_STATIC_SM_H_
#define IBEMU_FABRIC_ROUTING_STATIC_SM_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// What fabric.h's ConfigureStatically() does, on the bare state: nobody is
// told.  Links that are down stay unconfigured.
//
// Errors: ResourceExhausted, with nothing changed.
absl::Status ConfigureSubnet(Subnet& subnet);

// ResourceExhausted unless there are LIDs for so many ports.
absl::Status CheckLids(size_t ports);

// What an SM leaves behind on this end of a link, apart from its state.
void SetUpLink(const Subnet& subnet, NodePort& port);

// Configures a running fabric, and what comes back to it.  A node that a subnet
// manager has taken over (its port knows a master's LID) is left alone.
class StaticSm {
 public:
  // Both must outlive it.
  StaticSm(Subnet& subnet, Links& links) : subnet_(subnet), links_(links) {}

  // ConfigureSubnet().  Errors: its.
  absl::Status Configure();

  // Has a node powered on, and gives it LIDs, routes and ACTIVE ports as
  // Configure() did.
  void BringBack(topology::NodeId node, absl::FunctionRef<void()> power_on);

  // The link of this port, if it is up.
  void ActivateLink(PortId port);

 private:
  bool IsOurs(const Node& node) const;

  Subnet& subnet_;
  Links& links_;
  std::vector<wire::Lid> lids_;  // by port
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_STATIC_SM_H_
