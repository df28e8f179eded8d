// ConnectionWatcher: an observer of the connections of an adapter.
#ifndef IBEMU_RDMA_CM_HOST_CONNECTION_WATCHER_H_
#define IBEMU_RDMA_CM_HOST_CONNECTION_WATCHER_H_

#include <cstdint>

#include "rdma_cm/values/connection_news.h"
#include "rdma_cm/values/socket_address.h"
#include "wire/types.h"

namespace ibemu::rdma_cm {

class Id;
struct LocalPort;

// The end or the beginning of a membership in a multicast group.
struct GroupNews {
  enum class State : uint8_t { kJoined, kFailed, kLeft };
  State state{};
  const LocalPort& port;
  const SocketAddress& group;
  wire::Gid mgid{};
  int status = 0;  // kFailed: as in the Event
};

// A ConnectionWatcher is told while the owner of an id or membership is still
// to be told, or ends it.  It must not touch them.
class ConnectionWatcher {
 public:
  virtual void OnConnection(const Id& id, const ConnectionNews& news) = 0;
  virtual void OnGroup(const GroupNews& news) = 0;

 protected:
  ~ConnectionWatcher() = default;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_HOST_CONNECTION_WATCHER_H_
