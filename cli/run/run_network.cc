#include "cli/run/run_network.h"

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

// `number`: of the port, from 0 on.  As ipoib_vlan_add() names those of P_Keys;
// the first one on a switch has the switch's name.
std::string NameOf(const control::NetworkPort& port, int number) {
  if (!port.ethernet.empty()) {
    return number == 0 ? port.ethernet
                       : absl::StrCat(port.ethernet, "-", number);
  }
  const std::string name = absl::StrCat("ib", number);
  return port.partition.empty() ? name
                                : absl::StrCat(name, ".", port.partition);
}

}  // namespace

absl::StatusOr<RunNetwork> AttachNetwork(
    control::Client& daemon, const std::vector<std::string>& hosts,
    const std::vector<std::string>& partitions,
    const std::vector<std::string>& switches, bool connected) {
  RunNetwork network;
  IBEMU_ASSIGN_OR_RETURN(network.ports,
                         daemon.NetworkPorts(hosts, partitions, switches));
  int number = -1;
  for (const control::NetworkPort& port : network.ports) {
    const bool is_ethernet = !port.ethernet.empty();
    if (!is_ethernet && port.partition.empty()) ++number;  // another port
    launch::NetworkDevice& interface = network.interfaces.emplace_back();
    interface.name = NameOf(port, number);
    IBEMU_ASSIGN_OR_RETURN(
        const UniqueFd tun,
        launch::MakeNetworkDevice(
            interface.name, is_ethernet ? launch::NetworkDeviceKind::kEthernet
                                        : launch::NetworkDeviceKind::kIpoib));
    IBEMU_ASSIGN_OR_RETURN(
        control::AttachedNetwork attached,
        daemon.AttachNetwork(tun.get(), port, connected && !is_ethernet));
    interface.addresses = std::move(attached.addresses);
    interface.mac = std::move(attached.mac);
    // All switches have the same network of IPv4, so one of them has it here.
    if (is_ethernet && port.ethernet != switches.front()) {
      interface.addresses.clear();
    }
  }
  return network;
}

absl::Status BringUp(control::Client& daemon, RunNetwork& network) {
  for (size_t i = 0; i < network.ports.size(); ++i) {
    IBEMU_ASSIGN_OR_RETURN(const control::AttachedNetwork joined,
                           AwaitJoin(daemon, network.ports[i]));
    if (joined.mtu != 0) network.interfaces[i].mtu = joined.mtu;
  }
  return launch::BringUpNetwork(network.interfaces);
}

std::string AddressOf(const RunNetwork& network) {
  for (size_t i = 0; i < network.ports.size(); ++i) {
    const control::NetworkPort& port = network.ports[i];
    if (!port.partition.empty() || !port.ethernet.empty()) continue;
    for (const std::string& address : network.interfaces[i].addresses) {
      const bool is_ipv4 = address.find(':') == std::string::npos;
      if (is_ipv4) return address.substr(0, address.find('/'));
    }
  }
  return "";
}

}  // namespace ibemu::cli
