// Who wants to see the packets that cross links.
#ifndef IBEMU_FABRIC_FORWARDING_PACKET_TAP_H_
#define IBEMU_FABRIC_FORWARDING_PACKET_TAP_H_

#include <cstdint>

#include "fabric/packet/packet.h"
#include "fabric/subnet/node.h"

namespace ibemu::fabric {

class PacketTap {
 public:
  // A single packet (Packet::Count() is 1) leaves through the port `from`, on
  // its way to `to`, on the lane `vl`.  What a fault of the link then does to
  // it does not show.  May take taps away, itself too.
  virtual void OnCrossing(PortId from, PortId to, uint8_t vl,
                          const Packet& packet) = 0;

 protected:
  ~PacketTap() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_PACKET_TAP_H_
