// Links: the state machines of the links, IBA vol 1 §7.2 (logical) and vol 2
// §5.8 (physical).  Training takes no time.
#ifndef IBEMU_FABRIC_SUBNET_LINKS_H_
#define IBEMU_FABRIC_SUBNET_LINKS_H_

#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The operations that change the state of links.
class Links {
 public:
  // Brings up every link that can be up, without events.
  Links(Subnet& subnet, FabricEvents& events);

  // Cuts or restores the cable of `port`.  `fault`: the number of the fault
  // that cuts it; 0: it is none.  REQUIRES: it has a cable.
  void SetCable(PortId port, bool up, uint32_t fault = 0);
  // Returns the fault that has cut the port's cable; 0: none has.
  uint32_t CutBy(PortId port) const;

  // Moves the cable of `a` (if any) so that it leads to `b`; a cable that was
  // plugged into `b` is removed.  If `b` is kNoPort, the cable of `a` is
  // removed.
  void Relink(PortId a, PortId b);

  // Switches a node off or on.  After being switched on, the node is as after
  // power-on.
  void SetNode(topology::NodeId node, bool on);

  // Pulls the adapter out of its host or plugs it in.  After being plugged in,
  // the node is as after power-on, unless it is switched off.
  void SetPlugged(topology::NodeId node, bool plugged);

  // Carries out a state change of Set(PortInfo).  Returns false if the port's
  // state forbids it.  A link that goes down trains again at once if both ends
  // are still polling.
  bool SetLogicalState(PortId port, mad::PortState wanted);
  bool SetPhysicalState(PortId port, mad::PortPhysicalState wanted);

  // A data packet reached a port in ARMED: the port becomes ACTIVE.
  void OnDataWhileArmed(PortId port);

 private:
  void Unplug(PortId port);
  // Applies Node::on and Node::plugged after a change.
  void Update(topology::NodeId node);
  // Brings the link of `port` up if nothing prevents it.
  void Train(PortId port);
  // Takes the link of `port` down if it is up.  Both ends then sleep or poll,
  // as their LinkDownDefaultState says.
  void Drop(PortId port);
  void TellOfCable(PortId a, PortId b);
  // Sets PortStateChange and sends the events.
  void Tell(NodePort& port);

  Subnet& subnet_;
  FabricEvents& events_;
  absl::flat_hash_map<PortId, uint32_t> cut_by_;  // the faults; both ends
  bool silent_ = false;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_LINKS_H_
