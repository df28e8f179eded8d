// RunNetwork: the network of a run, whose interfaces the daemon gives.
#ifndef IBEMU_CLI_RUN_RUN_NETWORK_H_
#define IBEMU_CLI_RUN_RUN_NETWORK_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "control/client.h"
#include "launch/network/network_devices.h"

namespace ibemu::cli {

// A RunNetwork is what --net gives a command.
struct RunNetwork {
  std::vector<control::NetworkPort> ports;  // ib0, ib0.8001, blue, ib1, ...
  std::vector<launch::NetworkDevice> interfaces;  // of the same
};

// Makes an interface of each port with addresses of `hosts` (ib0), and of each
// one more for each of the P_Keys `partitions` (ib0.8001) and for each of the
// `switches` of Ethernet (blue), in this process's network namespace, and hands
// them to the daemon.  `connected`: those of IPoIB have connected mode.
//
// Errors: those of the daemon, and of launch::MakeNetworkDevice().
absl::StatusOr<RunNetwork> AttachNetwork(
    control::Client& daemon, const std::vector<std::string>& hosts,
    const std::vector<std::string>& partitions,
    const std::vector<std::string>& switches, bool connected);

// Waits for a while until the interfaces have joined their groups, for these
// say how long packets may be, and brings them up.
absl::Status BringUp(control::Client& daemon, RunNetwork& network);

// The first address of IPv4 of a port's first interface, "198.18.0.1"; empty if
// there is none.
std::string AddressOf(const RunNetwork& network);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_RUN_NETWORK_H_
