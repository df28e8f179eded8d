// FabricWatcher: an observer of what happens in the fabric.
#ifndef IBEMU_FABRIC_SUBNET_FABRIC_WATCHER_H_
#define IBEMU_FABRIC_SUBNET_FABRIC_WATCHER_H_

#include <cstdint>
#include <string_view>

#include "fabric/packet/packet.h"
#include "fabric/subnet/node.h"
#include "mad/wire/notice.h"

namespace ibemu::fabric {

// The reason why a packet went no further.
enum class DropCause : uint8_t {
  kNodeDown,       // its node was switched off before it left
  kLinkDown,       // no link, or it is not ACTIVE (VL15: not up)
  kCut,            // the link went down while the packet was delayed in it
  kFaultLoss,      // lost by a fault
  kFaultCorrupt,   // corrupted by a fault; the receiver counted it
  kNoRoute,        // no forwarding entry
  kLooping,        // the egress port is the ingress port
  kHopLimit,       // a routing loop
  kCopyLimit,      // too many multicast copies: a storm
  kVlMapping,      // SLtoVL maps a data packet to VL15
  kPKey,           // a switch's partition enforcement
  kMtu,            // longer than NeighborMTU
  kNotOurs,        // the DLID is not the port's
  kDirectedRoute,  // the directed route leads nowhere
  kPortInactive,   // the receiving port is not ACTIVE
  kDelayFull,      // delayed links hold too many packets
};
std::string_view NameOf(DropCause cause);  // for example "no-route"

// A packet that was dropped, and where.
struct DroppedPacket {
  const Packet& packet;  // stands for Count() packets
  PortId port;           // on a link: the end through which it left
  DropCause cause;
  uint32_t fault = 0;  // FaultId::number; 0: no fault
};

// The observer interface.  Its functions must not change the fabric.
class FabricWatcher {
 public:
  // The port, or its node, changed: see FabricEvents::OnPortChange().
  virtual void OnPortChange(PortId port) = 0;

  // What no manager sets by itself changed: see
  // FabricEvents::OnHardwareChange().
  virtual void OnHardwareChange(PortId /*port*/) {}

  // A trap leaves `port`.  `repeated`: it was sent before and has not been
  // repressed.
  virtual void OnTrap(PortId port, const mad::Notice& notice,
                      bool repeated) = 0;

  virtual void OnDrop(const DroppedPacket& dropped) = 0;

  // A fault holds a MAD up at `port`, for a time worth telling: see
  // FabricEvents::OnDelay().
  virtual void OnMadDelay(const Packet& /*packet*/, PortId /*port*/,
                          uint32_t /*fault*/) {}

 protected:
  ~FabricWatcher() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_FABRIC_WATCHER_H_
