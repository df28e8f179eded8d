#include "cli/run/networks.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"

namespace ibemu::cli {
namespace {

// A join takes milliseconds, unless its answers are lost.
constexpr absl::Duration kPatience = absl::Seconds(1);
constexpr absl::Duration kPause = absl::Milliseconds(5);

absl::StatusOr<control::AttachedNetwork> AwaitJoin(
    control::Client& daemon, const control::NetworkPort& port) {
  const absl::Time deadline = absl::Now() + kPatience;
  while (true) {
    IBEMU_ASSIGN_OR_RETURN(control::AttachedNetwork now,
                           daemon.ShowNetwork(port));
    if (!now.waits || absl::Now() >= deadline) return now;
    absl::SleepFor(kPause);
  }
}

}  // namespace

absl::StatusOr<Network> AttachNetwork(
    control::Client& daemon, const std::vector<std::string>& hosts,
    const std::vector<std::string>& partitions) {
  Network network;
  IBEMU_ASSIGN_OR_RETURN(network.ports, daemon.NetworkPorts(hosts, partitions));
  int port_count = 0;
  for (const control::NetworkPort& port : network.ports) {
    launch::NetworkDevice& interface = network.interfaces.emplace_back();
    // As ipoib_vlan_add() names those of P_Keys.
    interface.name = port.partition.empty() ? absl::StrCat("ib", port_count++)
                                            : absl::StrCat("ib", port_count - 1,
                                                           ".", port.partition);
    IBEMU_ASSIGN_OR_RETURN(const UniqueFd tun,
                           launch::MakeNetworkDevice(interface.name));
    IBEMU_ASSIGN_OR_RETURN(control::AttachedNetwork attached,
                           daemon.AttachNetwork(tun.get(), port));
    interface.addresses = std::move(attached.addresses);
  }
  return network;
}

absl::Status BringUp(control::Client& daemon, Network& network) {
  for (size_t i = 0; i < network.ports.size(); ++i) {
    IBEMU_ASSIGN_OR_RETURN(const control::AttachedNetwork joined,
                           AwaitJoin(daemon, network.ports[i]));
    if (joined.mtu != 0) network.interfaces[i].mtu = joined.mtu;
  }
  return launch::BringUpNetwork(network.interfaces);
}

std::string AddressOf(const Network& network) {
  for (size_t i = 0; i < network.ports.size(); ++i) {
    if (!network.ports[i].partition.empty()) continue;
    for (const std::string& address : network.interfaces[i].addresses) {
      const bool is_ipv4 = address.find(':') == std::string::npos;
      if (is_ipv4) return address.substr(0, address.find('/'));
    }
  }
  return "";
}

}  // namespace ibemu::cli
