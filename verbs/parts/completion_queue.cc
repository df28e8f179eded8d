#include "verbs/parts/completion_queue.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "verbs/vendor_error.h"

namespace ibemu::verbs {

absl::Status CompletionQueue::Resize(uint32_t size) {
  const size_t held = waiting();
  if (size == 0 || size > most_ || size < held) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a size of %d: it holds %d and may have up to %d", size, held, most_));
  }
  size_ = size;
  return absl::OkStatus();
}

size_t CompletionQueue::Poll(std::span<verbs::WorkCompletion> completions) {
  size_t count = 0;
  while (count < completions.size() && !entries_.empty()) {
    const Entry& entry = entries_.front();
    completions[count++] = entry.completion;
    if (entry.sends != nullptr) entry.sends->FreeUpTo(entry.send_entry);
    entries_.pop_front();
  }
  polled_ += count;
  return count;
}

size_t CompletionQueue::Peek(
    size_t first, std::span<verbs::WaitingCompletion> completions) const {
  size_t count = 0;
  for (; count < completions.size() && first + count < entries_.size();
       ++count) {
    const Entry& entry = entries_[first + count];
    completions[count] = {entry.completion, entry.frees_sends};
  }
  return count;
}

// A request for any completion is not narrowed by one for solicited ones.
void CompletionQueue::RequestNotify(bool solicited_only) {
  wanted_ =
      std::max(wanted_, solicited_only ? Wanted::kSolicited : Wanted::kAny);
  // The latest ones first: a later one that is solicited tells enough.
  const size_t taken = listener_.taken();
  for (size_t i = entries_.size(); i > taken; --i) {
    if (IsWanted(entries_[i - 1])) return Notify();
  }
}

void CompletionQueue::Forget(uint32_t number) {
  listener_.OnDrop();
  std::erase_if(entries_, [number](const Entry& entry) {
    return entry.completion.qp_num == number;
  });
}

bool CompletionQueue::IsWanted(const Entry& entry) const {
  switch (wanted_) {
    case Wanted::kNothing:
      return false;
    case Wanted::kAny:
      return true;
    case Wanted::kSolicited:
      return entry.solicited || entry.completion.status != 0 ||
             (entry.events != nullptr &&
              entry.events->MayBeSolicited(entry.event_index));
  }
  return false;
}

void CompletionQueue::Notify() {
  wanted_ = Wanted::kNothing;
  listener_.OnCompletion();
}

bool CompletionQueue::Push(Entry entry) {
  if (overrun_) return false;
  if (entries_.size() >= size_ && waiting() >= size_) {
    overrun_ = true;
    listener_.OnEvent(verbs::AsyncEventType::kCqError);
    return false;
  }
  verbs::WorkCompletion& completion = entry.completion;
  if (completion.status != 0 && completion.vendor_err == 0) {
    completion.vendor_err = VendorErrorOf(completion.status);
  }
  entries_.push_back(entry);
  listener_.OnArrival();  // before an event that makes the client look
  if (IsWanted(entry)) Notify();
  return true;
}

}  // namespace ibemu::verbs
