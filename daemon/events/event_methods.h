// The method of the control socket that streams events.
#ifndef IBEMU_DAEMON_EVENTS_EVENT_METHODS_H_
#define IBEMU_DAEMON_EVENTS_EVENT_METHODS_H_

#include <cstddef>
#include <memory>
#include <vector>

#include "control/method_table.h"
#include "daemon/events/event_log.h"
#include "daemon/events/event_stream.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// An EventMethods has events.start.  kMaxStreams readers may listen at a time.
class EventMethods {
 public:
  static constexpr size_t kMaxStreams = 16;

  // Both must outlive this object, which must outlive every Caller that it has
  // served.
  EventMethods(Loop& loop, EventLog& events) : loop_(loop), events_(events) {}

  // Adds events.start: {"kinds": ["link", "trap"]}, where no kinds means all of
  // them.  One end of a pair of stream sockets comes with the request.  The
  // other end gets the stream that daemon/events/event_stream.h describes,
  // until the caller's connection ends at the latest.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Start(control::Parameters& parameters,
                                       control::Caller& caller);

  Loop& loop_;
  EventLog& events_;
  std::vector<std::weak_ptr<EventStream>> streams_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_EVENT_METHODS_H_
