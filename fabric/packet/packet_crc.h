// The two checksums of an InfiniBand packet, ICRC and VCRC: IBA vol 1 §7.8.
#ifndef IBEMU_FABRIC_PACKET_PACKET_CRC_H_
#define IBEMU_FABRIC_PACKET_PACKET_CRC_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ibemu::fabric {

// Returns the ICRC of the bytes from LRH to the end of the padded payload.
// Fields that switches and routers may change count as ones (§7.8.1).  The
// least significant byte of the result goes on the wire first.  REQUIRES: LRH,
// BTH, and GRH if LRH announces it, are present.
uint32_t InvariantCrc(std::span<const std::byte> packet);

// Returns the VCRC of the bytes from LRH to ICRC (§7.8.2), in the same byte
// order.
uint16_t VariantCrc(std::span<const std::byte> packet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_CRC_H_
