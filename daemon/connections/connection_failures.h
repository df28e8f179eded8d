// ConnectionFailures: the last connections of each host that failed.
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_FAILURES_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_FAILURES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>

#include "absl/status/statusor.h"
#include "control/rpc.h"
#include "daemon/adapters/adapters.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// A ConnectionFailures keeps the events of the last kMost connections of each
// host, and of resolutions of addresses, paths and service IDs, that failed:
// whether or not somebody listened to events then.
class ConnectionFailures {
 public:
  static constexpr size_t kMost = 32;

  // `adapters` must outlive this.
  explicit ConnectionFailures(Adapters& adapters) : adapters_(adapters) {}

  // Adds an event "connection" or "datagram" to the hosts at its ends; an end
  // that is none of this daemon's is nothing.
  void Add(const nlohmann::json& event, std::optional<AdapterId> here,
           std::optional<AdapterId> there);

  // Adds connection.why {"node": "node-1"}: {"failures": [...]}, the events of
  // those in which a host took part, of each adapter the latest last.  This
  // must outlive `dispatcher`'s last call.
  //
  // Errors: Adapters::FindHost()'s.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Why(control::Parameters& parameters) const;

  Adapters& adapters_;
  std::map<AdapterId, std::deque<nlohmann::json>> failures_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_FAILURES_H_
