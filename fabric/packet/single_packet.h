// SingleOf: one packet of several that travel together.
#ifndef IBEMU_FABRIC_PACKET_SINGLE_PACKET_H_
#define IBEMU_FABRIC_PACKET_SINGLE_PACKET_H_

#include <cstdint>
#include <memory>

#include "fabric/packet/packet.h"
#include "fabric/packet/transport.h"

namespace ibemu::fabric {

// Returns packet `index`, by itself.  REQUIRES: they are packets of a queue
// pair, and index < packets.Count().
inline Packet SingleOf(const Packet& packets, uint32_t index) {
  Packet single = packets;
  single.transport =
      std::make_shared<const Transport>(packets.transport->Single(index));
  return single;
}

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_SINGLE_PACKET_H_
