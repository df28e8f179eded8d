#include "fabric/packet.h"

#include "fabric/transport.h"

namespace ibemu::fabric {

uint32_t Packet::TransportBytes() const { return transport->Bytes(); }

}  // namespace ibemu::fabric
