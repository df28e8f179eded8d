// ConnectionEvents: the events "connection", "datagram" and "group".
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_EVENTS_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_EVENTS_H_

#include "daemon/connections/connection_ends.h"
#include "daemon/connections/connection_history.h"
#include "daemon/connections/connection_table.h"
#include "daemon/events/event_log.h"
#include "rdma_cm/host/connection_watcher.h"

namespace ibemu::daemon {

// A ConnectionEvents tells the event log, and the history, what becomes of
// connections, once each: by the end that asked.  The other end tells what that
// one can't know, and all of it where the asker is none of this daemon's.
class ConnectionEvents final : public rdma_cm::ConnectionWatcher {
 public:
  // All must outlive this.
  ConnectionEvents(ConnectionTable& table, EventLog& events,
                   ConnectionHistory& history)
      : ends_(table), events_(events), history_(history) {}

  void OnConnection(const rdma_cm::Id& id,
                    const rdma_cm::ConnectionNews& news) override;
  void OnGroup(const rdma_cm::GroupNews& news) override;

 private:
  // Whether the peer's end tells it.
  bool IsTheirs(const rdma_cm::Id& id,
                const rdma_cm::ConnectionNews& news) const;

  const ConnectionEnds ends_;
  EventLog& events_;
  ConnectionHistory& history_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_EVENTS_H_
