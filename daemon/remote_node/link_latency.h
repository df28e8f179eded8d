// The time that a message of a node link takes, there and back.
#ifndef IBEMU_DAEMON_REMOTE_NODE_LINK_LATENCY_H_
#define IBEMU_DAEMON_REMOTE_NODE_LINK_LATENCY_H_

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/time/time.h"

namespace ibemu::daemon {

// A LinkLatency measures how long a message takes to the adapter and back, by
// echoes, of which one at most is under way: who is slow has no more to do.
class LinkLatency {
 public:
  // From an echo's return to the next one.
  static constexpr absl::Duration kInterval = absl::Seconds(10);

  // Returns the number of an echo that is to be sent now.  REQUIRES: none is
  // under way.
  uint64_t Send(absl::Time now);

  // Errors: InvalidArgument for an echo that is not under way.
  absl::Status OnReturned(uint64_t number, absl::Time now);

  // Of the last echo that came back; nothing before the first has.
  std::optional<absl::Duration> round_trip() const { return round_trip_; }

  // How long the adapter has owed an echo: zero if none is under way.
  absl::Duration Behind(absl::Time now) const;

 private:
  uint64_t number_ = 0;             // of the last one sent
  std::optional<absl::Time> sent_;  // of the one under way
  std::optional<absl::Duration> round_trip_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_LINK_LATENCY_H_
