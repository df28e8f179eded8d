// StaticSm: a subnet that is configured once, without a subnet manager
// (--sm=static).
#ifndef IBEMU_FABRIC_ROUTING_STATIC_SM_H_
#define IBEMU_FABRIC_ROUTING_STATIC_SM_H_

#include <cstddef>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// Configures a subnet as ConfigureStatically() of fabric.h says.  It writes the
// state directly and raises no events.  Links that are down are not configured.
//
// Errors: ResourceExhausted, with nothing changed.
absl::Status ConfigureSubnet(Subnet& subnet);

// Returns ResourceExhausted if there are not enough LIDs for `ports` ports.
absl::Status CheckLids(size_t ports);

// Sets what an SM sets at this end of a link, except for its state.
void SetUpLink(const Subnet& subnet, NodePort& port);

// The configuration of a running fabric and of what comes back to it.  A node
// that a subnet manager has taken over (its port knows a master's LID) is left
// alone.
class StaticSm {
 public:
  // Both arguments must outlive this object.
  StaticSm(Subnet& subnet, Links& links) : subnet_(subnet), links_(links) {}

  // Calls ConfigureSubnet() and returns its error.
  absl::Status Configure();

  // Powers a node on with `power_on`, and gives it LIDs, routes and ACTIVE
  // ports as Configure() did.
  void BringBack(topology::NodeId node, absl::FunctionRef<void()> power_on);

  // Makes the link of this port ACTIVE, if it is up.
  void ActivateLink(PortId port);

 private:
  bool IsOurs(const Node& node) const;

  Subnet& subnet_;
  Links& links_;
  std::vector<wire::Lid> lids_;  // by port
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_ROUTING_STATIC_SM_H_
