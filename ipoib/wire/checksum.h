// The checksum of the Internet protocols: RFC 1071.
#ifndef IBEMU_IPOIB_WIRE_CHECKSUM_H_
#define IBEMU_IPOIB_WIRE_CHECKSUM_H_

#include <cstddef>
#include <cstdint>
#include <span>

#include "ipoib/wire/ip_headers.h"

namespace ibemu::ipoib {

// Returns what belongs into the checksum of these bytes, in which it is 0 now;
// or 0 if it is there and right.
uint16_t Checksum(std::span<const std::byte> bytes);

// The same of an ICMPv6 message, with the pseudo-header of RFC 8200 §8.1.
uint16_t Icmpv6Checksum(const Ipv6Bytes& source, const Ipv6Bytes& destination,
                        std::span<const std::byte> message);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_CHECKSUM_H_
