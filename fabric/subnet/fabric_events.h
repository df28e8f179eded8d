// FabricEvents: synchronous calls from parts of the fabric to the whole, which
// Fabric implements.
#ifndef IBEMU_FABRIC_SUBNET_FABRIC_EVENTS_H_
#define IBEMU_FABRIC_SUBNET_FABRIC_EVENTS_H_

#include <cstdint>

#include "fabric/subnet/fabric_watcher.h"
#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// FabricEvents are the receiver of state changes in the fabric.
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

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_FABRIC_EVENTS_H_
