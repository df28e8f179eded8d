// IP addresses and networks as people write them.
#ifndef IBEMU_DAEMON_ADDRESSES_ADDRESS_TEXT_H_
#define IBEMU_DAEMON_ADDRESSES_ADDRESS_TEXT_H_

#include <optional>
#include <string>
#include <string_view>

#include "wire/ip_address.h"

namespace ibemu::daemon {

// Returns the network that "198.18.0.1/16" or "fd1b::1/64" names, or nothing if
// `text` is not a network.
std::optional<wire::IpNetwork> ParseNetwork(std::string_view text);

// "198.18.0.1", "fd1b:e000:0:1::1"
std::string AddressText(const wire::IpAddress& address);
// "198.18.0.1/16"
std::string NetworkText(const wire::IpNetwork& network);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADDRESSES_ADDRESS_TEXT_H_
