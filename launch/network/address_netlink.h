// AddressNetlink: addresses of network interfaces, by the kernel's netlink.
#ifndef IBEMU_LAUNCH_NETWORK_ADDRESS_NETLINK_H_
#define IBEMU_LAUNCH_NETWORK_ADDRESS_NETLINK_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// An AddressNetlink is a socket of the network namespace that it was opened in.
class AddressNetlink {
 public:
  // Errors: those of socket(2).
  static absl::StatusOr<AddressNetlink> Open();

  // Gives an interface an address, "198.18.0.1/16" or "fd1b::1/64", with the
  // network's broadcast address and without a search for duplicates.
  //
  // Errors: InvalidArgument if it is no address; else the kernel's.
  absl::Status Add(const std::string& interface,
                   const std::string& address) const;

 private:
  explicit AddressNetlink(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_NETWORK_ADDRESS_NETLINK_H_
