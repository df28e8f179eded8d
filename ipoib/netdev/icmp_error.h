// The answer to a packet that can't be sent.
#ifndef IBEMU_IPOIB_NETDEV_ICMP_ERROR_H_
#define IBEMU_IPOIB_NETDEV_ICMP_ERROR_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "wire/ip_address.h"

namespace ibemu::ipoib {

// The reason why a packet can't go out by an interface.
enum class IcmpError {
  kHostUnreachable,  // nobody answers for the address
  kTooBig,           // the packet is longer than the MTU
};

// Returns the packet by which the interface with the address `from` tells the
// sender of `packet` why it was not sent (RFC 792, RFC 4443), without an
// encapsulation; `mtu` is that of kTooBig.  Nothing if nobody may be told: for
// what is no sound packet, an error itself, or a later fragment.
std::optional<std::vector<std::byte>> MakeIcmpError(
    IcmpError error, size_t mtu, std::span<const std::byte> packet,
    const wire::IpAddress& from);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_ICMP_ERROR_H_
