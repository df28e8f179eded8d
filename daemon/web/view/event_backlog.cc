#include "daemon/web/view/event_backlog.h"

#include <chrono>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::daemon {

std::string SentEvent(std::string_view name, std::string_view data) {
  return absl::StrCat("event: ", Absl(name), "\ndata: ", Absl(data), "\n\n");
}

void EventBacklog::Push(std::shared_ptr<const std::string> event) {
  const std::lock_guard lock(mutex_);
  // After the first loss all events are lost until the reader takes the queue.
  if (lost_ > 0 || bytes_ + event->size() > kMaxBytes) {
    ++lost_;
    return;
  }
  bytes_ += event->size();
  events_.push_back(std::move(event));
  news_.notify_one();
}

std::optional<std::string> EventBacklog::Take(absl::Duration patience) {
  std::unique_lock lock(mutex_);
  news_.wait_for(lock, absl::ToChronoNanoseconds(patience),
                 [&] { return closed_ || !events_.empty(); });
  if (closed_) return std::nullopt;
  std::string text;
  text.reserve(bytes_);
  for (const auto& event : events_) text += *event;
  if (lost_ > 0) {
    text += SentEvent("lost", absl::StrFormat(R"({"events":%d})", lost_));
  }
  events_.clear();
  bytes_ = 0;
  lost_ = 0;
  return text;
}

void EventBacklog::Close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  news_.notify_one();
}

}  // namespace ibemu::daemon
