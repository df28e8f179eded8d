// ConnectionWatcher: who hears what becomes of the connections of an adapter.
#ifndef IBEMU_RDMA_CM_CONNECTION_WATCHER_H_
#define IBEMU_RDMA_CM_CONNECTION_WATCHER_H_

#include <cstdint>

#include "cm/wire/message.h"
#include "rdma_cm/values/socket_address.h"
#include "wire/types.h"

namespace ibemu::rdma_cm {

class Id;
struct LocalPort;

// What an id has come to know of its connection, or of its service ID
// resolution.
struct ConnectionNews {
  enum class State : uint8_t {
    kNoAddress,     // the address could not be resolved
    kNoPath,        // the route could not
    kAsked,         // a REQ or SIDR_REQ went out
    kEstablished,   // of datagrams: the queue pair was told
    kRejected,      // by a REJ; of datagrams: no queue pair was told
    kDisconnected,  // by a DREQ
    kAbandoned,     // the id ended before there was an answer
    kTimedOut,      // an answer did not come
    kStale,         // the peer has forgotten the connection
  };
  State state{};
  bool by_peer = false;   // who did it
  uint16_t reason = 0;    // kRejected: of the REJ, or status of the SIDR_REP
  cm::Message awaited{};  // kTimedOut: the answer
  int status = 0;         // kNoAddress, kNoPath: as in the Event
};

// What became of a membership in a multicast group.
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

#endif  // IBEMU_RDMA_CM_CONNECTION_WATCHER_H_
