// IP addresses and networks as people write them.
#ifndef IBEMU_DAEMON_ADDRESSES_ADDRESS_TEXT_H_
#define IBEMU_DAEMON_ADDRESSES_ADDRESS_TEXT_H_

#include "wire/ip_text.h"

namespace ibemu::daemon {

using wire::AddressText, wire::NetworkText, wire::ParseNetwork;

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADDRESSES_ADDRESS_TEXT_H_
