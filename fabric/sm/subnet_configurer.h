// SubnetConfigurer: the configuration that a master subnet manager gives its
// subnet.
#ifndef IBEMU_FABRIC_SM_SUBNET_CONFIGURER_H_
#define IBEMU_FABRIC_SM_SUBNET_CONFIGURER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "fabric/routing/min_hop_router.h"
#include "fabric/sm/multicast_router.h"
#include "fabric/sm/subnet_reach.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The sweeps of a master.  Each is divided into steps, so that a large subnet
// does not block the event loop.  It reads and sets the state of nodes and
// ports directly; a real manager would need packets, with the same result.
//
// Ports keep their LIDs: a port keeps the one that it has if no other port has
// it, else it gets the one that it had before.  Links that come up during a
// sweep are left to the next one.
class SubnetConfigurer {
 public:
  // `home`: the port of the manager.  All arguments must outlive this object.
  SubnetConfigurer(Subnet& subnet, Links& links, FabricEvents& events,
                   PortId home);

  // Begins a sweep: finds the end ports and gives them LIDs.  `anew`: another
  // manager may have changed everything, or there was no manager before.
  //
  // Errors: ResourceExhausted, with nothing changed.
  absl::Status Begin(bool anew);

  // Does the next step of the sweep.  Returns false if there is more to do.
  bool Continue();

  // After the last step: the end ports that this sweep found but not the one
  // before, and the reverse.
  const std::vector<PortId>& came() const { return came_; }
  const std::vector<PortId>& went() const { return went_; }

  // The end ports that the latest sweep has found, even if it is still in
  // progress.
  const SubnetReach& reach() const { return reach_; }

  MulticastRouter& multicast() { return multicast_; }

 private:
  // Returns the end ports by LID.
  std::vector<PortId> KeepLids() const;
  void FillGaps(std::vector<PortId>& owners) const;
  void SetEndPort(PortId id, wire::Lid lid, wire::Lid home);
  bool SetSwitches();
  void SetLinks();
  // Configures the link of a port.  Returns true if it was waiting for that, in
  // INIT.
  bool SetLink(PortId id);
  void Compare();

  Subnet& subnet_;
  Links& links_;
  FabricEvents& events_;
  const PortId home_;
  MulticastRouter multicast_;

  SubnetReach reach_, before_;
  bool anew_ = false;
  wire::Lid top_ = wire::Lid::kUnassigned;  // the highest LID
  std::vector<wire::Lid> lids_;             // by end port: its latest LID
  std::vector<topology::NodeId> switches_;
  // The router that made the present tables, and the one that makes the next
  // ones; it is null if the present ones need no change.
  std::unique_ptr<MinHopRouter> routed_, routing_;
  std::vector<PortId> came_, went_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_CONFIGURER_H_
