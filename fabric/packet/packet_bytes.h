// Functions that write packets in wire format.
#ifndef IBEMU_FABRIC_PACKET_PACKET_BYTES_H_
#define IBEMU_FABRIC_PACKET_PACKET_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/packet/packet.h"
#include "wire/packet_headers.h"

namespace ibemu::fabric {

// Returns the bytes from LRH to VCRC.  `vl`: the VL of the packet on its
// current link; an SMP always has 15.  REQUIRES: a single packet, that is,
// Packet::Count() is 1.
//
// The fabric's queue pairs do not number messages: AETH.MSN is 0.
std::vector<std::byte> BytesOf(const Packet& packet, uint8_t vl);

// Returns the bytes from LRH to ICRC, which is 0, on VL 0: for links that
// carry bytes unharmed, where nobody checks it.  REQUIRES: a single packet.
std::vector<std::byte> UncheckedBytesOf(const Packet& packet);

// Returns BTH.OpCode of a packet.  REQUIRES: `transport` is a single packet.
uint8_t OpcodeOf(const Transport& transport);

// Returns the GRH of `route`.  `payload`: the number of bytes from the end of
// the GRH to the end of the ICRC.
wire::GlobalRouteHeader GrhOf(const RouteHeader& route, size_t payload);

// Returns the number of bytes that BytesOf() gives.
size_t LengthOf(const Packet& packet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_BYTES_H_
