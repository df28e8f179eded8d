// The two checksums of an InfiniBand packet: IBA vol 1 §7.8.
#ifndef IBEMU_FABRIC_PACKET_PACKET_CRC_H_
#define IBEMU_FABRIC_PACKET_PACKET_CRC_H_

#include <cstddef>
#include <cstdint>
#include <span>

namespace ibemu::fabric {

// ICRC of what goes from LRH to the end of the padded payload: fields that
// switches and routers may change count as ones (§7.8.1).  Its least
// significant byte goes on the wire first.  Requires LRH, GRH if LRH says so,
// and BTH to be there.
uint32_t InvariantCrc(std::span<const std::byte> packet);

// VCRC of what goes from LRH to ICRC (§7.8.2), in the same byte order.
uint16_t VariantCrc(std::span<const std::byte> packet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PACKET_PACKET_CRC_H_
