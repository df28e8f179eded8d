// ConnectionTable: the HostConnections of a daemon's adapters.
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_TABLE_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_TABLE_H_

#include <cstdint>
#include <map>
#include <memory>

#include "absl/time/time.h"
#include "base/random.h"
#include "base/timers.h"
#include "cm/connection_manager.h"
#include "daemon/adapters/host_table.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/connections/host_connections.h"
#include "mad/host.h"
#include "rdma_cm/host/connection_watcher.h"
#include "rdma_cm/host/id_table.h"

namespace ibemu::daemon {

// A ConnectionTable makes the HostConnections of an adapter when somebody asks
// for it.  All views of the adapter's host share it.
class ConnectionTable : private HostTable::Keeper {
 public:
  // How long a HostConnections, and with it its mad::Host, stays when nobody
  // uses it any more: while a peer may still repeat its last message, and the
  // adapter is not wanted for something else.
  static constexpr absl::Duration kLinger = absl::Minutes(2);

  // All must outlive this.
  ConnectionTable(Timers& timers, HostTable& hosts, const AddressPlan& plan,
                  uint64_t seed);
  ~ConnectionTable();
  ConnectionTable(const ConnectionTable&) = delete;
  ConnectionTable& operator=(const ConnectionTable&) = delete;

  // Returns that of the adapter's present host; null if it is no channel
  // adapter.  The result may outlive this, but is of no use then.
  std::shared_ptr<HostConnections> Get(AdapterId adapter);

  // Returns what the communication manager of `host` has counted; zeros where
  // there is none.
  cm::CmCounters CountersOf(const mad::Host& host, int port) const;

  // Tells `watcher`, who must outlive this, of the connections of all adapters
  // that somebody asks for from now on.
  void SetWatcher(rdma_cm::ConnectionWatcher& watcher) { watcher_ = &watcher; }

  // Returns what the adapter's present host has; null: nobody has asked for it.
  rdma_cm::Adapter* Find(AdapterId adapter) const;

  const AddressPlan& plan() const { return plan_; }
  Adapters& adapters() { return hosts_.adapters(); }

  // Returns random numbers of a view.
  Random NextRandom();

  // Returns the seed of an adapter that is in another daemon: of what happens
  // there by chance.
  uint64_t SeedElsewhere(AdapterId adapter) const;

 private:
  class Entry;

  // HostTable::Keeper
  void LetGo(AdapterId adapter) override;

  // Nobody uses that of the host, or the host is gone: ends it in time, if
  // both.
  void OnUnused(const mad::Host* host);

  Timers& timers_;
  HostTable& hosts_;
  const AddressPlan& plan_;
  const uint64_t seed_;
  Random random_;
  rdma_cm::ConnectionWatcher* watcher_ = nullptr;
  std::map<const mad::Host*, std::unique_ptr<Entry>> entries_;
  std::shared_ptr<ConnectionTable*> self_;  // points to null after the end
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_TABLE_H_
