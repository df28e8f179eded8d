// --sm=builtin: a subnet manager inside the fabric.  IBA vol 1 §14.4.
#ifndef IBEMU_FABRIC_SM_SUBNET_MANAGER_H_
#define IBEMU_FABRIC_SM_SUBNET_MANAGER_H_

#include "absl/status/status.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/events.h"
#include "fabric/links.h"
#include "fabric/management_service.h"
#include "fabric/sa/multicast_routes.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/subnet.h"

namespace ibemu::fabric {

// Lives on the first switch's port 0; without a switch on the last channel
// adapter, so that programs of the first may run a manager of their own.
class SubnetManager : public ManagementService, public MulticastRoutes {
 public:
  // All must outlive it.
  SubnetManager(Subnet& subnet, Links& links, FabricEvents& events,
                MadSender& sender, Timers& timers);
  ~SubnetManager() override;

  // Configures the subnet and becomes its master.
  //
  // Errors: ResourceExhausted, with nothing changed.
  absl::Status Start();

  // Where it lives.
  PortId port() const;

  // Ourselves, and who is the master: we or another one.  Without a master that
  // we know of its port is kNoPort.
  SmIdentity self() const;
  SmIdentity master() const;
  bool IsMaster() const;

  // Not owned.
  void AddObserver(SubnetObserver& observer);
  void RemoveObserver(const SubnetObserver& observer);

  // Not owned; nullptr takes it away.
  void SetGmpHandler(GmpHandler* handler);

  // MulticastRoutes.  Tables are set at once while we are master, and when we
  // become it again.
  void SetMembers(mad::Lid mlid, MulticastMembers members) override;

  // ManagementService.
  bool Take(const mad::Arrival& arrival) override;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_MANAGER_H_
