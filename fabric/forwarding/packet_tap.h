// PacketTap: an observer of the packets that cross links.
#ifndef IBEMU_FABRIC_FORWARDING_PACKET_TAP_H_
#define IBEMU_FABRIC_FORWARDING_PACKET_TAP_H_

#include <cstdint>

#include "fabric/packet/packet.h"
#include "fabric/subnet/node.h"

namespace ibemu::fabric {

// The observer interface.
class PacketTap {
 public:
  // Called when a single packet (Packet::Count() is 1) leaves through the port
  // `from` on its way to `to`, on the virtual lane `vl`.  The effects of faults
  // of this link do not show yet.  The call may remove taps, including this
  // one.
  virtual void OnCrossing(PortId from, PortId to, uint8_t vl,
                          const Packet& packet) = 0;

 protected:
  ~PacketTap() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_PACKET_TAP_H_
