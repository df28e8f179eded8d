// The parser of packets in wire format: the reverse of
// fabric/packet/packet_bytes.h.
#ifndef IBEMU_FABRIC_PACKET_PACKET_PARSER_H_
#define IBEMU_FABRIC_PACKET_PACKET_PARSER_H_

#include <cstddef>
#include <span>

#include "absl/status/statusor.h"
#include "fabric/packet/packet.h"

namespace ibemu::fabric {

// Returns the packet in `bytes`, from LRH to ICRC.  The ICRC is not checked.  A
// datagram for queue pair 0 or 1 is a MAD.
//
// Errors: InvalidArgument, naming the header that is wrong or does not fit.
absl::StatusOr<Packet> ParsePacket(std::span<const std::byte> bytes);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_PARSER_H_
