// The network of a run: devices of IP packets in a network namespace.
#ifndef IBEMU_LAUNCH_NETWORK_NETWORK_DEVICES_H_
#define IBEMU_LAUNCH_NETWORK_NETWORK_DEVICES_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// The packets of Linux's ib0 in datagram mode, until its partition's broadcast
// group says another size.
inline constexpr int kUsualMtu = 2044;

// A NetworkDevice is what an interface gets.
struct NetworkDevice {
  std::string name;                    // "ib0"
  std::vector<std::string> addresses;  // "198.18.0.1/16", "fd1b::1/64"
  int mtu = kUsualMtu;
  std::string mac{};  // of Ethernet: "02:00:00:00:00:05"
};

// An interface of IPoIB is a TUN device, one of Ethernet a TAP device.
enum class NetworkDeviceKind { kIpoib, kEthernet };

// Makes a device in this process's network namespace, down and without an
// address.  It goes when the last copy of the result is closed.
//
// Errors: with the cure, that /dev/net/tun is missing, or may not be used.
absl::StatusOr<UniqueFd> MakeNetworkDevice(const std::string& name,
                                           NetworkDeviceKind kind);

// Brings up the loopback interface, lets everybody of this process's group
// ping, and brings up each device with its addresses, and the routes to their
// networks.
//
// Errors: InvalidArgument, what an address is not; else those of the kernel.
absl::Status BringUpNetwork(const std::vector<NetworkDevice>& devices);

// Makes namespaces and a device in them, to see whether it can be done: the
// process is good for nothing else then.
//
// Errors: those of EnterNamespaces() and MakeNetworkDevice().
absl::Status TryNetwork();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_NETWORK_NETWORK_DEVICES_H_
