// TimeoutWatcher: an observer of the sends of a host that nobody answered.
#ifndef IBEMU_MAD_TIMEOUT_WATCHER_H_
#define IBEMU_MAD_TIMEOUT_WATCHER_H_

#include "absl/time/time.h"
#include "mad/address.h"

namespace ibemu::mad {

// An UnansweredSend is a request whose last timeout is over, or whose agent has
// ended before that: a program that waits for as long as it told the agent to
// may give up first.
struct UnansweredSend {
  int port = 0;
  const Outgoing& packet;    // as it was sent
  int tries = 1;             // how often
  absl::Time begin{};        // when it was sent first
  bool agent_ended = false;  // the answer may be on its way
};

// A TimeoutWatcher hears of sends without an answer before the client does.  It
// must not send or destroy agents.  Host::SetTimeoutWatcher() attaches one.
class TimeoutWatcher {
 public:
  virtual void OnTimeout(const UnansweredSend& send) = 0;

 protected:
  ~TimeoutWatcher() = default;
};

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_TIMEOUT_WATCHER_H_
