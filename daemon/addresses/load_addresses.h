// What --addresses chooses.
#ifndef IBEMU_DAEMON_ADDRESSES_LOAD_ADDRESSES_H_
#define IBEMU_DAEMON_ADDRESSES_LOAD_ADDRESSES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/addresses/address_plan.h"

namespace ibemu::daemon {

// Returns the plan that `choice` names: a network ("10.0.0.0/8"), in which the
// adapters of `numbered` are numbered in that order, or a file
// (ParseAddressFile()).
//
// Errors: those of the file; InvalidArgument, the network is not of IPv4 or too
// small for `numbered`, or there is nobody to number.
absl::StatusOr<AddressPlan> LoadAddresses(
    const std::string& choice, Adapters& adapters,
    const std::vector<AdapterId>& numbered);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADDRESSES_LOAD_ADDRESSES_H_
