// The file of --addresses.
#ifndef IBEMU_DAEMON_ADDRESSES_ADDRESS_FILE_H_
#define IBEMU_DAEMON_ADDRESSES_ADDRESS_FILE_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/addresses/address_plan.h"

namespace ibemu::daemon {

// Returns the plan that `text` describes:
//
//   # A port, and its addresses.  Without a number, it is port 1.
//   node-1       10.1.0.1/16 fd00::1/64
//   node-1/2     10.2.0.1/16
//   node-1:8001  10.3.0.1/16    # of its interface in that partition
//   "H-3 HCA"    10.1.0.3/16
//
// Errors: InvalidArgument or NotFound, "`name`:LINE: what is wrong, and the
// rule": a node that is none, a port that its adapter has not, a P_Key or an
// address that is none or of no port (0.0.0.0, a group's, that of a network),
// an address twice.
absl::StatusOr<AddressPlan> ParseAddressFile(std::string_view text,
                                             std::string_view name,
                                             Adapters& adapters);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADDRESSES_ADDRESS_FILE_H_
