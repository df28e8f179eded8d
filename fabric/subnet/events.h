// FabricEvents and MadSender: synchronous calls from one part of the fabric to
// the others.  Fabric implements FabricEvents, Endpoints implements MadSender.
#ifndef IBEMU_FABRIC_SUBNET_EVENTS_H_
#define IBEMU_FABRIC_SUBNET_EVENTS_H_

#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// The receiver of state changes in the fabric.
class FabricEvents {
 public:
  virtual ~FabricEvents() = default;

  // The state, LID, LMC, SM LID, P_Key table or GID table of `port` changed.
  // An attached host is told soon, not before the call returns.
  virtual void OnPortChange(PortId port) = 0;

  // What no manager sets by itself changed: the cable of `port` was cut,
  // restored, moved or removed, the port was disabled or enabled, its node was
  // switched, its adapter was plugged or is elsewhere now, or somebody gave it
  // another GUID, or a LID by hand.  Also called when what was asked for was so
  // already.
  virtual void OnHardwareChange(PortId /*port*/) {}

  // The subnet manager asks the users of `port` to register again
  // (PortInfo.ClientReregister, IBA vol 1 §14.4.11).
  virtual void OnClientReregister(PortId port) = 0;

  // SwitchInfo.PortStateChange of a switch was set: trap 128 is due.
  virtual void OnLinkStateChange(topology::NodeId node) = 0;

  // Passed on to the FabricWatchers.
  virtual void OnTrap(PortId /*port*/, const mad::Notice& /*notice*/,
                      bool /*repeated*/) {}
  virtual void OnDrop(const DroppedPacket& /*dropped*/) {}

  // A fault holds a packet up at `port`.  `fault`: as DroppedPacket's.
  virtual void OnDelay(const Packet& /*packet*/, PortId /*port*/,
                       uint32_t /*fault*/) {}
};

// The sender of MADs from the fabric's own nodes: answers and traps.
class MadSender {
 public:
  virtual ~MadSender() = default;

  // Sends like mad::Port::Transmit(), from an end port of any node (port 0 of a
  // switch).  Nothing is delivered before the call returns.
  virtual void SendMad(PortId from, const mad::Outgoing& packet) = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_EVENTS_H_
