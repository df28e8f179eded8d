// LinkHistory: the loads and errors of links in the last half hour.
#ifndef IBEMU_DAEMON_WEB_METRICS_LINK_HISTORY_H_
#define IBEMU_DAEMON_WEB_METRICS_LINK_HISTORY_H_

#include <cstddef>
#include <cstdint>
#include <deque>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "control/method_table.h"
#include "daemon/web/metrics/load_meter.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A LinkHistory looks at all links every kEvery and remembers the last kLooks
// loads of those that carried something or counted errors, of at most
// LoadMeter::kMaxLinks at a time.  A link that is idle takes no memory.
class LinkHistory {
 public:
  static constexpr absl::Duration kEvery = absl::Seconds(5);
  static constexpr uint32_t kLooks = 360;

  // Both must outlive this.
  LinkHistory(Timers& timers, const fabric::Fabric& fabric);
  ~LinkHistory() { timers_.Cancel(next_); }
  LinkHistory(const LinkHistory&) = delete;
  LinkHistory& operator=(const LinkHistory&) = delete;

  // Adds link.history: {"node": "node-1", "port": 1}, or without "port" all
  // links of a node together.  The answer has
  //   "every_ms": 5000, "looks": 12: how often loads were found, at most
  //            kLooks;
  //   "samples": [[looks ago, bytes sent in a second, bytes received, packets
  //            sent in a second, packets received, errors that both ends of the
  //            links have counted since the look before]], the oldest first, as
  //            seen from the node; those that are not there were zero.
  // This must outlive `dispatcher`'s last call.
  //
  // Errors: Fabric::Find()'s and FindPort()'s.
  void AddTo(control::MethodTable& dispatcher);

 private:
  struct Sample {
    uint32_t look = 0;
    // By the end with the lower id.
    float sent = 0, received = 0, sent_packets = 0, received_packets = 0;
    float errors = 0;
  };

  void Look(size_t slice);
  void Keep();
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;

  Timers& timers_;
  const fabric::Fabric& fabric_;
  LoadMeter meter_;
  uint32_t looks_ = 0;  // the first finds nothing
  // By the end with the lower id, the oldest first.
  absl::flat_hash_map<fabric::PortId, std::deque<Sample>> samples_;
  absl::Time began_;
  TimerId next_ = TimerId::kNone;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_METRICS_LINK_HISTORY_H_
