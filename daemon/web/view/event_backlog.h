// Server-sent events on their way from the loop to the thread that writes them.
#ifndef IBEMU_DAEMON_WEB_VIEW_EVENT_BACKLOG_H_
#define IBEMU_DAEMON_WEB_VIEW_EVENT_BACKLOG_H_

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "absl/time/time.h"

namespace ibemu::daemon {

// One event as text/event-stream has it (HTML, section "Server-sent events").
// Neither part holds a line end.
std::string SentEvent(std::string_view name, std::string_view data);

// An EventBacklog holds the events that one reader has not taken yet, at most
// kMaxBytes.  The first event that does not fit and all that follow it until
// the next Take() are lost; an event "lost" with the data {"events": NUMBER}
// takes their place.
class EventBacklog {
 public:
  static constexpr size_t kMaxBytes = size_t{1} << 20;

  // Many readers share the text.  Never waits for the reader.
  void Push(std::shared_ptr<const std::string> event);

  // Takes all events, waiting up to `patience` for the first: empty if none has
  // come.  nullopt: the queue is closed.
  std::optional<std::string> Take(absl::Duration patience);

  // Ends Take(), now and in the future.
  void Close();

 private:
  std::mutex mutex_;
  std::condition_variable news_;
  std::deque<std::shared_ptr<const std::string>> events_;
  size_t bytes_ = 0;
  uint64_t lost_ = 0;  // since events_.back()
  bool closed_ = false;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WEB_VIEW_EVENT_BACKLOG_H_
