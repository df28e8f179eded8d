#include "verbs/parts/completion_queue.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"

namespace ibemu::verbs {

absl::Status CompletionQueue::Resize(uint32_t size) {
  if (size == 0 || size > most_ || size < completions_.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a size of %d: it holds %d and may have up to %d", size,
                        completions_.size(), most_));
  }
  size_ = size;
  return absl::OkStatus();
}

size_t CompletionQueue::Poll(std::span<verbs::WorkCompletion> completions) {
  const size_t count = std::min(completions.size(), completions_.size());
  const auto end = completions_.begin() + static_cast<ptrdiff_t>(count);
  std::copy(completions_.begin(), end, completions.begin());
  completions_.erase(completions_.begin(), end);
  return count;
}

// A request for any completion is not narrowed by one for solicited ones.
void CompletionQueue::RequestNotify(bool solicited_only) {
  wanted_ =
      std::max(wanted_, solicited_only ? Wanted::kSolicited : Wanted::kAny);
}

void CompletionQueue::Push(const verbs::WorkCompletion& completion,
                           bool solicited) {
  if (completions_.size() == size_) {
    if (std::exchange(overrun_, true)) return;
    return listener_.OnEvent(verbs::EventType::kCqError);
  }
  completions_.push_back(completion);
  const Wanted is =
      solicited || completion.status != 0 ? Wanted::kSolicited : Wanted::kAny;
  const bool notify =
      wanted_ == Wanted::kAny || (wanted_ != Wanted::kNothing && wanted_ == is);
  if (notify) {
    wanted_ = Wanted::kNothing;
    listener_.OnCompletion();
  }
  listener_.OnArrival();
}

}  // namespace ibemu::verbs
