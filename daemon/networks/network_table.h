// NetworkTable: the hosts that have a network, each in one run.
#ifndef IBEMU_DAEMON_NETWORKS_NETWORK_TABLE_H_
#define IBEMU_DAEMON_NETWORKS_NETWORK_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "control/rpc.h"
#include "daemon/adapters/adapters.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/connections/connection_table.h"
#include "daemon/networks/host_network.h"
#include "daemon/networks/network_namespace.h"
#include "loop/loop.h"
#include "nlohmann/json_fwd.hpp"
#include "sysfs/view.h"

namespace ibemu::daemon {

// A NetworkTable makes a HostNetwork of an interface for the first run that
// asks, and keeps it until that run's connection ends.  The interfaces of a
// port are its first one (ib0) and those of partitions that runs ask for
// (ib0.8001).
class NetworkTable {
 public:
  // A network as a view shows it.
  struct Shown {
    AdapterId adapter{};
    uint16_t partition = 0;  // as of AddressPlan::Owner
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
  // "ib0", "p_key": "0xffff", "up": true, "waits": false, "mtu": 2044,
  // "addresses": ["198.18.0.1/16", ...]}].
  nlohmann::json List() const;

 private:
  // Of which interface.
  using Key = AddressPlan::Owner;
  struct Entry {
    int pid = 0;
    NetworkNamespace place;
    std::weak_ptr<HostNetwork> network;
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
  sysfs::NetworkInterface InterfaceOf(
      const Key& key, const std::shared_ptr<HostNetwork>& network) const;
  nlohmann::json Describe(const Key& key, const Entry& entry) const;
  void Remove(const Key& key);

  Loop& loop_;
  Adapters& adapters_;
  ConnectionTable& connections_;
  std::map<Key, Entry> entries_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_NETWORKS_NETWORK_TABLE_H_
