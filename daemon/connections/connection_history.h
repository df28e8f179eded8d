// ConnectionHistory: the last that happened to each host's connections.
#ifndef IBEMU_DAEMON_CONNECTIONS_CONNECTION_HISTORY_H_
#define IBEMU_DAEMON_CONNECTIONS_CONNECTION_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/functional/function_ref.h"
#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "daemon/adapters/adapters.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// A ConnectionHistory keeps, of each host, the last kMax events of
// connections, and of resolutions of addresses, paths and service IDs, that
// failed, and the last kMax of those that did not: whether or not somebody
// listened to events then.
class ConnectionHistory {
 public:
  static constexpr size_t kMax = 32;

  // `adapters` must outlive this.
  explicit ConnectionHistory(Adapters& adapters) : adapters_(adapters) {}

  // Adds an event "connection" or "datagram" to the hosts at its ends; an end
  // that is none of this daemon's is nothing.
  void Add(const nlohmann::json& event, bool failed,
           std::optional<AdapterId> here, std::optional<AdapterId> there);

  // Adds connection.why {"node": "node-1"}: {"failures": [...]}, the events of
  // those in which a host took part, the latest last; or {"pid": 4711}: those
  // that a process told of.  With "all": true it also has "events", those that
  // did not fail among them.  This must outlive `dispatcher`'s last call.
  //
  // Errors: Adapters::FindHost()'s.
  void AddTo(control::MethodTable& dispatcher);

 private:
  // With numbers, in the order in which they happened.
  using Events = std::deque<std::pair<uint64_t, nlohmann::json>>;

  absl::StatusOr<nlohmann::json> Why(control::Parameters& parameters) const;
  nlohmann::json Describe(
      bool all,
      absl::FunctionRef<bool(AdapterId, const nlohmann::json&)> wanted) const;

  Adapters& adapters_;
  uint64_t last_ = 0;
  std::map<AdapterId, Events> failures_, others_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_CONNECTIONS_CONNECTION_HISTORY_H_
