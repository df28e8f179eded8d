// Who wants to hear what happens in the fabric.
#ifndef IBEMU_FABRIC_SUBNET_FABRIC_WATCHER_H_
#define IBEMU_FABRIC_SUBNET_FABRIC_WATCHER_H_

#include <cstdint>
#include <string_view>

#include "fabric/packet/packet.h"
#include "fabric/subnet/node.h"
#include "mad/wire/notice.h"

namespace ibemu::fabric {

// Why a packet went no further.
enum class DropCause : uint8_t {
  kNodeDown,       // its node was switched off before it left
  kLinkDown,       // there is no link, or it is not ACTIVE (VL15: not up)
  kCut,            // the link went down while it was in the cable
  kFaultLoss,      // a fault
  kFaultCorrupt,   // the same, and the receiver counted it
  kNoRoute,        // no forwarding entry
  kLooping,        // the way out is the way in
  kHopLimit,       // a routing loop
  kCopyLimit,      // a multicast storm
  kVlMapping,      // SLtoVL says VL15
  kPKey,           // a switch enforces partitions
  kMtu,            // longer than NeighborMTU
  kNotOurs,        // another's DLID
  kDirectedRoute,  // its path leads nowhere
  kPortInactive,   // the receiving port is not ACTIVE
  kDelayFull,      // delayed links hold too many packets
};
std::string_view NameOf(DropCause cause);  // "no-route"

struct DroppedPacket {
  const Packet& packet;  // or a train: Count() of them
  PortId port;           // of a link: the end that it left through
  DropCause cause;
  uint32_t fault = 0;  // the number of a FaultId; 0: it was none
};

// Nothing here may change the fabric.
class FabricWatcher {
 public:
  // As FabricEvents has it: something of the port changed, or of its node.
  virtual void OnPortChange(PortId port) = 0;

  // A trap leaves `port`.  `repeated`: nobody has repressed it so far.
  virtual void OnTrap(PortId port, const mad::Notice& notice,
                      bool repeated) = 0;

  virtual void OnDrop(const DroppedPacket& dropped) = 0;

 protected:
  ~FabricWatcher() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_FABRIC_WATCHER_H_
