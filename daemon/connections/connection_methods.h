// ConnectionMethods: the methods of the control socket that tell of a host's
// connections, and of the names of all hosts.
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_METHODS_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_METHODS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "daemon/connections/connection_ends.h"
#include "daemon/connections/connection_table.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// A ConnectionMethods has node.status and node.names.  It changes nothing: of
// an adapter that nobody has used by address, it shows the addresses alone.
class ConnectionMethods {
 public:
  // The most listeners, and the most connections, of one answer.
  static constexpr size_t kMax = 1000;

  // `table` must outlive this.
  explicit ConnectionMethods(ConnectionTable& table)
      : table_(table), ends_(table) {}

  // Adds node.status: {"node": "node-1"}.  The answer has one item for each
  // adapter of the host:
  //
  // {"adapters": [{
  //   "node": "node-1", "guid": "0x...",
  //   "ports": [{"port": 1, "addresses": ["198.18.0.1/16"],
  //              "interface": "up"}],
  //   "link_local": "169.254.1.0/16",
  //   "seed_elsewhere": "1234567890123456789",
  //   "listeners": [{"space": "RDMA_PS_TCP", "address": "0.0.0.0",
  //                  "port": 7174, "service_id": "0x0000000001061c06",
  //                  "pid": 4711}],
  //   "listener_count": 1,
  //   "connections": [{"state": "established", "space": "RDMA_PS_TCP",
  //                    "service_id": "0x0000000001061c06",
  //                    "asked_by": "remote", "pid": 4711,
  //                    "local": {"node": "node-1", "address": "198.18.0.1",
  //                              "port": 7174, "qpn": 5},
  //                    "remote": {...}}],
  //   "connection_count": 1}]}
  //
  // "interface" is "up" when the port answers ARP, "down" when it does not yet,
  // and null where nobody has opened rdma_cm.  A "pid" or "qpn" that is not
  // known is null, as is "link_local", the address on switches of Ethernet,
  // where there is none.  "seed_elsewhere" is the seed of a daemon that takes
  // the adapter's place.  The lists are in the order of their ports and
  // addresses.
  // Also node.names: [{"node": "node-1", "address": "198.18.0.1", "link_local":
  // "169.254.1.0/16"}, ...], at most AddressPlan::kMaxNames, hosts with an
  // IPv4 address, each with its first one.
  //
  // This must outlive `dispatcher`'s last call.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Status(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Names(control::Parameters& parameters) const;
  nlohmann::json Describe(AdapterId adapter) const;
  nlohmann::json Ports(AdapterId adapter) const;
  nlohmann::json LinkLocal(AdapterId adapter) const;
  nlohmann::json Connection(const rdma_cm::Id& id) const;

  ConnectionTable& table_;
  const ConnectionEnds ends_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_METHODS_H_
