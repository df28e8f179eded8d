// The control socket's method that tells what happens.
#ifndef IBEMU_DAEMON_EVENTS_EVENT_METHODS_H_
#define IBEMU_DAEMON_EVENTS_EVENT_METHODS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "control/rpc.h"
#include "daemon/events/event_log.h"
#include "daemon/events/event_stream.h"
#include "loop/loop.h"

namespace ibemu::daemon {

class EventMethods {
 public:
  static constexpr size_t kMaxStreams = 16;

  // Both must outlive this, and every Caller that it served.
  EventMethods(Loop& loop, EventLog& events) : loop_(loop), events_(events) {}

  // Adds events.start: {"kinds": ["link", "trap"]}, none for all, and with it
  // one end of a pair of stream sockets.  The other end gets what
  // daemon/events/event_stream.h says, at most as long as the caller's
  // connection is open.
  void AddTo(control::Dispatcher& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Start(control::Parameters& parameters,
                                       control::Caller& caller);

  Loop& loop_;
  EventLog& events_;
  std::vector<std::weak_ptr<EventStream>> streams_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_EVENT_METHODS_H_
