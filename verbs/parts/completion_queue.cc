#include "verbs/parts/completion_queue.h"

#include <algorithm>

#include "absl/strings/str_format.h"

namespace ibemu::verbs {

absl::Status CompletionQueue::Resize(uint32_t size) {
  if (size == 0 || size > most_ || size < entries_.size()) {
    return absl::InvalidArgumentError(
        absl::StrFormat("a size of %d: it holds %d and may have up to %d", size,
                        entries_.size(), most_));
  }
  size_ = size;
  return absl::OkStatus();
}

size_t CompletionQueue::Poll(std::span<verbs::WorkCompletion> completions) {
  size_t count = 0;
  while (count < completions.size() && !entries_.empty()) {
    const Entry& entry = entries_.front();
    completions[count++] = entry.completion;
    solicited_ -= entry.solicited ? 1 : 0;
    if (entry.sends != nullptr) entry.sends->FreeUpTo(entry.send_entry);
    entries_.pop_front();
  }
  return count;
}

// A request for any completion is not narrowed by one for solicited ones.
void CompletionQueue::RequestNotify(bool solicited_only) {
  wanted_ =
      std::max(wanted_, solicited_only ? Wanted::kSolicited : Wanted::kAny);
  if (!entries_.empty()) NotifyIfWanted(solicited_ != 0);
}

void CompletionQueue::Forget(uint32_t number) {
  std::erase_if(entries_, [number](const Entry& entry) {
    return entry.completion.qp_num == number;
  });
  solicited_ =
      static_cast<size_t>(std::ranges::count_if(entries_, &Entry::solicited));
}

void CompletionQueue::NotifyIfWanted(bool solicited) {
  const Wanted least = solicited ? Wanted::kSolicited : Wanted::kAny;
  if (wanted_ < least) return;
  wanted_ = Wanted::kNothing;
  listener_.OnCompletion();
}

bool CompletionQueue::Push(const verbs::WorkCompletion& completion,
                           bool solicited, SendQueueEntries* sends,
                           uint64_t send_entry) {
  if (overrun_) return false;
  if (entries_.size() == size_) {
    overrun_ = true;
    listener_.OnEvent(verbs::EventType::kCqError);
    return false;
  }
  const bool counts_as_solicited = solicited || completion.status != 0;
  entries_.push_back({completion, counts_as_solicited, sends, send_entry});
  solicited_ += counts_as_solicited ? 1 : 0;
  NotifyIfWanted(counts_as_solicited);
  listener_.OnArrival();
  return true;
}

}  // namespace ibemu::verbs
