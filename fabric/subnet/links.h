// The state machines of the links: IBA vol 1 §7.2 (logical) and vol 2 §5.8
// (physical).  Training takes no time.
#ifndef IBEMU_FABRIC_SUBNET_LINKS_H_
#define IBEMU_FABRIC_SUBNET_LINKS_H_

#include "fabric/subnet/events.h"
#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

class Links {
 public:
  // Brings up every link that can be, without events.
  Links(Subnet& subnet, FabricEvents& events);

  // Cuts or restores the cable of `port`.  Requires that it has one.
  void SetCable(PortId port, bool up);

  // Moves the cable of `a` (if any) so that it leads to `b`; what was plugged
  // there before hangs loose.  kNoPort: pulls it out.
  void Relink(PortId a, PortId b);

  // Power off and on.  On: the node is as after power-on.
  void SetNode(topology::NodeId node, bool on);

  // The adapter out of its host and in again.  In: the same as power-on, if the
  // node is not off.
  void SetPlugged(topology::NodeId node, bool plugged);

  // What Set(PortInfo) asks for.  False: the port's state forbids it.  A link
  // that goes down trains again at once if both ends still poll.
  bool SetLogicalState(PortId port, mad::PortState wanted);
  bool SetPhysicalState(PortId port, mad::PortPhysicalState wanted);

  // A data packet reached a port in ARMED: the port becomes ACTIVE.
  void OnDataWhileArmed(PortId port);

 private:
  void Unplug(PortId port);
  // The node was switched or plugged.
  void Update(topology::NodeId node);
  // Brings the link of `port` up if nothing is against it.
  void Train(PortId port);
  // The link of `port` goes down if it is up.  The two ends then sleep or poll
  // as their LinkDownDefaultState says.
  void Drop(PortId port);
  // PortStateChange and events.
  void Tell(NodePort& port);

  Subnet& subnet_;
  FabricEvents& events_;
  bool silent_ = false;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_LINKS_H_
