// SubnetManager: a subnet manager inside the fabric (--sm=builtin), IBA vol 1
// §14.4.
#ifndef IBEMU_FABRIC_SM_SUBNET_MANAGER_H_
#define IBEMU_FABRIC_SM_SUBNET_MANAGER_H_

#include "absl/status/status.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/forwarding/management_service.h"
#include "fabric/sm/multicast_routes.h"
#include "fabric/sm/sm_election.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/sm/subnet_sweeper.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/mad_sender.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {

// The built-in manager.  It is on port 0 of the first switch, or without a
// switch on the last channel adapter, so that programs of the first one may run
// a manager of their own.  Its subnet is what this port reaches.
//
// It has priority 0.  It learns of other managers from the IsSM bits of ports,
// and asks them by SMInfo.  It learns of changes in the subnet from traps, from
// events of its own node, and, because traps may be lost, from a count of all
// changes every 10 s.
class SubnetManager : public ManagementService, public MulticastRoutes {
 public:
  // All arguments must outlive this object.  REQUIRES: the fabric has a node.
  SubnetManager(Subnet& subnet, Links& links, FabricEvents& events,
                MadSender& sender, SweepHistory& sweeps, Timers& timers);
  SubnetManager(const SubnetManager&) = delete;
  SubnetManager& operator=(const SubnetManager&) = delete;
  ~SubnetManager() override;

  // Configures the subnet and becomes its master.
  //
  // Errors: ResourceExhausted, with nothing changed.
  absl::Status Start();

  // Returns the port on which the manager is.
  PortId port() const { return port_; }

  // Return the identities of this manager and of the master, which is this one
  // or another.  If no master is known, its port is kNoPort.
  SmIdentity self() const { return election_.self(); }
  SmIdentity master() const { return election_.master(); }
  bool IsMaster() const { return election_.IsMaster(); }

  // Not owned.
  void AddObserver(SubnetObserver& observer) { observers_.Add(observer); }
  void RemoveObserver(const SubnetObserver& observer) {
    observers_.Remove(observer);
  }

  // Not owned; nullptr removes it.
  void SetGmpHandler(GmpHandler* handler) { gmp_handler_ = handler; }

  // MulticastRoutes.  The tables are set at once while this manager is master,
  // and again whenever it becomes master.
  void SetMembers(wire::Lid mlid, MlidMembers members) override;

  // ManagementService.
  mad::LocalVerdict Take(const mad::Arrival& arrival,
                         mad::MadBytes& reply) override;
  void OnHostSm(bool is_sm) override;

  // FabricEvents::OnPortChange().
  void OnPortChange(PortId port);

 private:
  bool MayLive() const;
  void OnOwnNodeChange();
  void Tick();
  mad::LocalVerdict TakeSmp(const mad::Arrival& arrival, mad::MadBytes& reply);
  bool TakeTrap(const mad::Arrival& arrival, const mad::Smp& trap);
  void Repress(const mad::Arrival& arrival, mad::Smp trap);

  Subnet& subnet_;
  MadSender& sender_;
  Timers& timers_;
  const PortId port_;
  ObserverList<SubnetObserver> observers_;
  SmElection election_;
  SubnetSweeper sweeper_;
  GmpHandler* gmp_handler_ = nullptr;

  bool host_sm_ = false;  // a program of the host is SM on the port
  bool alive_ = false;
  TimerId tick_ = TimerId::kNone;
  TimerId own_change_ = TimerId::kNone;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_MANAGER_H_
