// SubnetSweeper: the sweeps of a subnet manager, by which a master keeps its
// subnet configured.
#ifndef IBEMU_FABRIC_SM_SUBNET_SWEEPER_H_
#define IBEMU_FABRIC_SM_SUBNET_SWEEPER_H_

#include <cstdint>

#include "absl/status/status.h"
#include "base/observer_list.h"
#include "base/timers.h"
#include "fabric/history/sweep_history.h"
#include "fabric/sm/multicast_router.h"
#include "fabric/sm/sm_election.h"
#include "fabric/sm/subnet_configurer.h"
#include "fabric/sm/subnet_observer.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/links.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The scheduler of sweeps: it says when there is one, has SubnetConfigurer do
// it, step by step, and tells the observers what it found.  It counts the
// changes in the fabric that others made, because a sweep without any would
// find nothing.
class SubnetSweeper {
 public:
  // `home`: the port of the manager.  All arguments must outlive this object.
  SubnetSweeper(Subnet& subnet, Links& links, FabricEvents& events, PortId home,
                SmElection& election, ObserverList<SubnetObserver>& observers,
                SweepHistory& sweeps, Timers& timers);
  SubnetSweeper(const SubnetSweeper&) = delete;
  SubnetSweeper& operator=(const SubnetSweeper&) = delete;
  ~SubnetSweeper();

  // Does a whole sweep before it returns, without telling observers.
  //
  // Errors: ResourceExhausted, with nothing changed.
  absl::Status SweepAtOnce();

  // Handles what SmElection tells.  A new master sweeps everything, and the
  // observers hear of the mastership when that is done.
  void OnMastership(bool is_master);

  // Requests a sweep, which comes soon if this manager is master and something
  // has changed.
  void Request();

  // Called for each change in the fabric.  Returns false if it is one that a
  // sweep makes.
  bool CountChange();

  MulticastRouter& multicast() { return configurer_.multicast(); }

 private:
  void Begin();
  void Continue();
  void End();
  void TellMastership(bool is_master);

  SmElection& election_;
  ObserverList<SubnetObserver>& observers_;
  SweepHistory& sweeps_;
  Timers& timers_;
  const PortId home_;
  SubnetConfigurer configurer_;

  uint64_t changes_ = 0;  // changes in the fabric made by others
  uint64_t swept_changes_ = 0;
  bool working_ = false;   // changes are our own
  bool sweeping_ = false;  // between two steps
  bool anew_ = false;      // for the next sweep
  bool promoted_ = false;  // observers are told after the sweep
  TimerId timer_ = TimerId::kNone;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_SWEEPER_H_
