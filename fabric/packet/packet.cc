#include "fabric/packet/packet.h"

#include "fabric/packet/transport.h"

namespace ibemu::fabric {

uint32_t Packet::TransportWords() const { return transport->Bytes() / 4; }

uint32_t Packet::TransportCount() const { return transport->packets; }

}  // namespace ibemu::fabric
