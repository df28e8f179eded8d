// The stream of events to one reader.
#ifndef IBEMU_DAEMON_EVENTS_EVENT_STREAM_H_
#define IBEMU_DAEMON_EVENTS_EVENT_STREAM_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "control/bounded_stream.h"
#include "daemon/events/event_log.h"

namespace ibemu::daemon {

// An EventStream sends events through a stream socket, a line each.  It never
// waits: an event that does not fit into the buffer is lost, and the next line
// that fits is {"event": "lost", "events": how many}.  When the reader shuts
// down its sending side, it gets the rest of the buffer and the end of the
// stream.
class EventStream final : public EventListener {
 public:
  // `kinds` are the events to send; if it is empty, all of them.  `loop` and
  // `events` must outlive this object.
  EventStream(Loop& loop, EventLog& events, UniqueFd socket,
              std::vector<std::string> kinds);
  EventStream(const EventStream&) = delete;
  EventStream& operator=(const EventStream&) = delete;
  ~EventStream();

  absl::Status Start();

  // Sends the rest of the buffer and the end of the stream, and no further
  // events.  Must not be called from an EventListener.
  void Finish();

  bool Wants(std::string_view kind) const override;
  void OnEvent(std::string_view kind, std::string_view line) override;

 private:
  void StopListening();
  void Append(std::string_view line);
  void TellLost();

  EventLog& events_;
  control::BoundedStream stream_;
  const std::vector<std::string> kinds_;
  bool listening_ = false;
  uint64_t lost_ = 0;  // events, since the last line
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_EVENTS_EVENT_STREAM_H_
