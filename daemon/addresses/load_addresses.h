// The plan of addresses that --addresses chooses.
#ifndef IBEMU_DAEMON_ADDRESSES_LOAD_ADDRESSES_H_
#define IBEMU_DAEMON_ADDRESSES_LOAD_ADDRESSES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "daemon/addresses/address_plan.h"
#include "topology/topology.h"

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

// Gives ports the addresses of a topology, whose nodes are the adapters of
// those numbers, instead of those that `plan` has for these ports.
//
// Errors: InvalidArgument, `plan` has an address for another port.
absl::Status Replace(const std::vector<topology::PortAddresses>& addresses,
                     const Adapters& adapters, AddressPlan& plan);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ADDRESSES_LOAD_ADDRESSES_H_
