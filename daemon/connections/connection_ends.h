// ConnectionEnds: the ends of connections, as methods and events describe them.
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_ENDS_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_ENDS_H_

#include <optional>

#include "daemon/adapters/adapters.h"
#include "daemon/connections/connection_table.h"
#include "nlohmann/json_fwd.hpp"
#include "rdma_cm/host/local_port.h"
#include "rdma_cm/id.h"
#include "rdma_cm/values/socket_address.h"

namespace ibemu::daemon {

// A ConnectionEnds finds the adapters that the two ends of a connection belong
// to, and writes both ends as JSON.
class ConnectionEnds {
 public:
  // `table` must outlive this.
  explicit ConnectionEnds(ConnectionTable& table) : table_(table) {}

  // Returns the adapter that `port` is of, or at the other end of `id`; nothing
  // if it is none of this daemon's.
  std::optional<AdapterId> OwnerOf(const rdma_cm::LocalPort& port) const;
  std::optional<AdapterId> PeerOf(const rdma_cm::Id& id) const;

  // Return {"node": "node-1", "address": "198.18.0.1", "port": 7174}.  "node"
  // is null if nobody here has the address; an address may be a GID, and then
  // the port is what a service ID has of it.
  nlohmann::json Local(const rdma_cm::Id& id) const;
  nlohmann::json Remote(const rdma_cm::Id& id) const;
  // Returns "node" alone.
  nlohmann::json NameOf(std::optional<AdapterId> adapter) const;

  // Returns true if the peer of `id` has rdma_cm in this daemon, too.
  bool PeerIsHere(const rdma_cm::Id& id) const;

 private:
  ConnectionTable& table_;
};

// Returns the service ID of what `id` asks for, or was asked for: that under
// which it listens, if it does.
uint64_t ServiceIdOf(const rdma_cm::Id& id);

// "198.18.0.1", or the GID.
std::string AddressOf(const rdma_cm::SocketAddress& address);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_ENDS_H_
