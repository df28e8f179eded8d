// SubnetManager: a subnet manager inside the fabric (--sm=builtin), IBA vol 1
// §14.4.
#ifndef IBEMU_FABRIC_SM_SUBNET_MANAGER_H_
#define IBEMU_FABRIC_SM_SUBNET_MANAGER_H_

#include <cstdint>
#include <optional>
#include <set>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/forwarding/management_service.h"
#include "fabric/sm/multicast_routes.h"
#include "fabric/sm/sm_dialogue.h"
#include "fabric/sm/sm_state_machine.h"
#include "fabric/sm/subnet_configurer.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/subnet/events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/sm_info.h"
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
                MadSender& sender, Timers& timers);
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
  SmIdentity self() const;
  SmIdentity master() const;
  bool IsMaster() const { return machine_.state() == mad::SmState::kMaster; }

  // Not owned.
  void AddObserver(SubnetObserver& observer) { observers_.Add(observer); }
  void RemoveObserver(const SubnetObserver& observer) {
    observers_.Remove(observer);
  }

  // Not owned; nullptr removes it.
  void SetGmpHandler(GmpHandler* handler) { gmp_handler_ = handler; }

  // MulticastRoutes.  The tables are set at once while this manager is master,
  // and again whenever it becomes master.
  void SetMembers(wire::Lid mlid, MulticastMembers members) override;

  // ManagementService.
  mad::LocalVerdict Take(const mad::Arrival& arrival,
                         mad::MadBytes& reply) override;
  void OnHostSm(bool is_sm) override;

  // FabricEvents::OnPortChange().
  void OnPortChange(PortId port);

 private:
  mad::SmInfo Info() const;
  bool MayLive() const;
  void Live();
  void OnOwnNodeChange();
  void Tick();

  // Arriving MADs: subnet_manager_mads.cc.
  mad::LocalVerdict TakeSmp(const mad::Arrival& arrival, mad::MadBytes& reply);
  mad::LocalVerdict TakeSmInfo(const mad::Smp& request, mad::MadBytes& reply);
  bool TakeTrap(const mad::Arrival& arrival, const mad::Smp& trap);
  void Repress(const mad::Arrival& arrival, mad::Smp trap);
  void OnControl(SmControl control, bool acknowledge, PortId from);

  // Other managers: subnet_manager_peers.cc.
  void UpdatePeer(PortId port);
  PortId FindPeer(wire::Guid guid) const;
  void AskAll();
  void AskIn(absl::Duration delay);
  void Ask(const SubnetReach& reach, PortId peer);
  void OnAnswer(PortId peer, const std::optional<mad::SmInfo>& info);
  void OnMasterAnswer(const mad::SmInfo& info);
  void HandOver(PortId peer, const mad::SmInfo& info);
  void Follow(PortId peer, const mad::SmInfo& info);
  void LoseMaster();
  void Discover();
  void EndDiscovery();

  void BecomeMaster();
  void TellMastership(bool is_master);
  void RequestSweep();
  void Sweep();
  void SweepSome();
  void EndSweep();

  Subnet& subnet_;
  MadSender& sender_;
  Timers& timers_;
  const PortId port_;
  SmStateMachine machine_;
  SmDialogue dialogue_;
  SubnetConfigurer configurer_;
  ObserverList<SubnetObserver> observers_;
  GmpHandler* gmp_handler_ = nullptr;

  bool host_sm_ = false;  // a program of the host is SM on the port
  bool alive_ = false;
  uint32_t act_count_ = 0;
  TimerId tick_ = TimerId::kNone;
  TimerId own_change_ = TimerId::kNone;

  std::set<PortId> peers_;  // other ports with IsSM
  int asked_ = 0;           // number of outstanding answers
  TimerId ask_timer_ = TimerId::kNone;
  TimerId control_ = TimerId::kNone;
  PortId master_port_ = kNoPort;  // kNoPort unless another manager is master
  mad::SmInfo master_;
  int idle_answers_ = 0;  // consecutive answers of a master that it is none

  uint64_t changes_ = 0;  // changes in the fabric made by others
  uint64_t swept_changes_ = 0;
  bool working_ = false;   // changes are our own
  bool sweeping_ = false;  // between two steps
  bool anew_ = false;      // for the next sweep
  bool promoted_ = false;  // observers are told after the sweep
  TimerId sweep_timer_ = TimerId::kNone;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_MANAGER_H_
