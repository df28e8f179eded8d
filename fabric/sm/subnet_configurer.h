// What a master writes into its subnet.
#ifndef IBEMU_FABRIC_SM_SUBNET_CONFIGURER_H_
#define IBEMU_FABRIC_SM_SUBNET_CONFIGURER_H_

#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "fabric/routing/min_hop_router.h"
#include "fabric/sm/multicast_router.h"
#include "fabric/sm/subnet_reach.h"
#include "fabric/subnet/events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// One sweep after the other, each in pieces, so that a large subnet holds
// nobody up.  It sees and sets the state of nodes and ports directly; the
// packets that a real manager needs for that would tell it the same.
//
// LIDs stay with their ports: those that a port has, if it is the only one,
// then those that it had before.  Links that come meanwhile belong to the next
// sweep.
class SubnetConfigurer {
 public:
  // For the manager at `home`.  All must outlive it.
  SubnetConfigurer(Subnet& subnet, Links& links, FabricEvents& events,
                   PortId home);

  // Begins a sweep: finds what is there and gives it LIDs.  `anew`: another
  // manager may have changed everything, or nobody was there before.
  //
  // Errors: ResourceExhausted, with nothing changed.
  absl::Status Begin(bool anew);

  // Goes on with it; false: there is more to do.
  bool Continue();

  // After the last piece: what the sweep found and the one before had not, and
  // the reverse.  End ports.
  const std::vector<PortId>& came() const { return came_; }
  const std::vector<PortId>& went() const { return went_; }

  // What the last sweep that has begun found.
  const SubnetReach& reach() const { return reach_; }

  MulticastRouter& multicast() { return multicast_; }

 private:
  // By LID: whose it is.
  std::vector<PortId> KeepLids() const;
  void FillGaps(std::vector<PortId>& owners) const;
  void SetEndPort(PortId id, wire::Lid lid, wire::Lid home);
  bool SetSwitches();
  void SetLinks();
  // True if the link waited for that.
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
  std::vector<wire::Lid> lids_;  // by end port: the last one that it had
  std::vector<topology::NodeId> switches_;
  // What made the tables that there are, and what makes those to come; null if
  // the present ones will do.
  std::unique_ptr<MinHopRouter> routed_, routing_;
  std::vector<PortId> came_, went_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_CONFIGURER_H_
