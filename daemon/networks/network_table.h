// NetworkTable: the hosts that have a network, each in one run.
#ifndef IBEMU_DAEMON_NETWORKS_NETWORK_TABLE_H_
#define IBEMU_DAEMON_NETWORKS_NETWORK_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "daemon/adapters/adapters.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/connections/connection_table.h"
#include "daemon/networks/host_network.h"
#include "daemon/networks/network_namespace.h"
#include "ipoib/ethernet/switch_port.h"
#include "ipoib/link.h"
#include "loop/loop.h"
#include "nlohmann/json_fwd.hpp"
#include "sysfs/view.h"
#include "wire/ip_address.h"

namespace ibemu::daemon {

// A NetworkTable makes a HostNetwork for the first run that asks, and keeps it
// until that run's connection ends.  Those of a port are its first IPoIB
// interface (ib0), those of partitions that runs ask for (ib0.8001), and its
// ports on virtual switches of Ethernet.
class NetworkTable {
 public:
  // A network as a view shows it.
  struct Shown {
    AdapterId adapter{};
    uint16_t partition = 0;       // as of AddressPlan::Owner
    std::string ethernet_switch;  // empty: it is of IPoIB
    sysfs::NetworkInterface interface;
  };

  // All must outlive this, and this must outlive every Caller that it has
  // served.
  NetworkTable(Loop& loop, Adapters& adapters, ConnectionTable& connections);
  NetworkTable(const NetworkTable&) = delete;
  NetworkTable& operator=(const NetworkTable&) = delete;

  // Adds the methods `network.ports`, `network.attach` and `network.show`.
  void AddTo(control::MethodTable& dispatcher);

  // Returns the networks whose devices are in a network namespace.
  std::vector<Shown> In(const NetworkNamespace& place) const;

  // Returns all networks: [{"pid": 4711, "node": "node-1", "port": 1, "name":
  // "ib0", "p_key": "0xffff", "mode": "datagram", "up": true, "waits": false,
  // "mtu": 2044, "addresses": ["198.18.0.1/16", ...]}].  In place of p_key and
  // mode those of Ethernet have "ethernet": "blue", "mac": "02:...", what they
  // count, and "stations":
  // [{"mac": "02:...", "lid": 5, "qpn": "0x12", "seconds": 3.1}], those that
  // were heard of, and how long ago.
  nlohmann::json List() const;

 private:
  // Of which interface, or of which port on a switch.
  struct Key {
    AdapterId adapter{};
    int port = 0;
    uint16_t partition = 0;         // as of AddressPlan::Owner
    std::string ethernet_switch{};  // empty: it is of IPoIB

    AddressPlan::Owner owner() const { return {adapter, port, partition}; }
    // NOLINTNEXTLINE(modernize-use-nullptr): the compiler's own comparison
    auto operator<=>(const Key&) const = default;
  };
  // What carries its packets, while `network` has not ended.
  using Carried = std::variant<const ipoib::Link*, const ipoib::SwitchPort*>;
  struct Entry {
    int pid = 0;
    NetworkNamespace place;
    bool connected = false;  // it has connected mode
    std::weak_ptr<HostNetwork> network;
    Carried carried;
  };
  class Holder;

  absl::StatusOr<nlohmann::json> Ports(control::Parameters& parameters) const;
  absl::StatusOr<std::vector<AdapterId>> FindAdapters(
      const std::vector<std::string>& hosts) const;
  absl::StatusOr<nlohmann::json> Attach(control::Parameters& parameters,
                                        control::Caller& caller);
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;
  absl::StatusOr<Key> FindPort(control::Parameters& parameters) const;
  absl::Status CheckPartition(const Key& key) const;
  absl::Status CheckFree(const Key& key) const;
  std::vector<wire::IpNetwork> AddressesOf(const Key& key) const;
  std::shared_ptr<HostNetwork> MakeNetwork(
      const Key& key, bool connected,
      std::shared_ptr<HostConnections> connections, TunDevice tun,
      Carried& carried);
  sysfs::NetworkInterface InterfaceOf(const Key& key, const Entry& entry) const;
  nlohmann::json Describe(const Key& key, const Entry& entry) const;
  nlohmann::json DescribeStations(const ipoib::SwitchPort& port) const;
  void Remove(const Key& key);

  Loop& loop_;
  Adapters& adapters_;
  ConnectionTable& connections_;
  std::map<Key, Entry> entries_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_NETWORK_TABLE_H_
