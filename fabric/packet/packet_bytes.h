// Packets as they are on the wire, for whoever writes them down.
#ifndef IBEMU_FABRIC_PACKET_PACKET_BYTES_H_
#define IBEMU_FABRIC_PACKET_PACKET_BYTES_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "fabric/packet/packet.h"
#include "wire/packet_headers.h"

namespace ibemu::fabric {

// LRH to VCRC.  `vl`: the lane of the link that it is on; an SMP has 15
// anyhow.  Requires a single packet: Packet::Count() is 1.
//
// The fabric's queue pairs do not number messages: AETH.MSN is 0.
std::vector<std::byte> BytesOf(const Packet& packet, uint8_t vl);

// `payload`: bytes that follow it, to ICRC.
wire::GlobalRouteHeader GrhOf(const RouteHeader& route, size_t payload);

// How many bytes BytesOf() gives.
size_t LengthOf(const Packet& packet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_BYTES_H_
