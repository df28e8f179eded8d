#include "fabric/soft_hca/faults/late_completions.h"

#include <algorithm>
#include <utility>

namespace ibemu::fabric {

void LateCompletions::Add(absl::Duration delay, Push push) {
  absl::Time due = timers_.Now() + delay;
  if (!late_.empty()) due = std::max(due, late_.back().due);
  late_.push_back({.due = due, .push = std::move(push)});
  if (timer_ == TimerId::kNone) Arm();
  if (late_.size() > kMax) PushOldest();
}

void LateCompletions::Arm() {
  timer_ = timers_.RunAt(late_.front().due, [this] {
    timer_ = TimerId::kNone;
    PushDue();
    if (!late_.empty() && timer_ == TimerId::kNone) Arm();
  });
}

// What is pushed may flush the queue, or add to it.
void LateCompletions::PushDue() {
  while (!late_.empty() && late_.front().due <= timers_.Now()) PushOldest();
}

void LateCompletions::PushOldest() {
  Push push = std::move(late_.front().push);
  late_.pop_front();
  push();
}

void LateCompletions::PushAll() {
  timers_.Cancel(std::exchange(timer_, TimerId::kNone));
  for (Late& late : std::exchange(late_, {})) late.push();
}

void LateCompletions::Clear() {
  timers_.Cancel(std::exchange(timer_, TimerId::kNone));
  late_.clear();
}

}  // namespace ibemu::fabric
