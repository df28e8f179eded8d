// LateCompletions: completions that a fault makes late.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_LATE_COMPLETIONS_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_LATE_COMPLETIONS_H_

#include <cstddef>
#include <deque>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/timers.h"

namespace ibemu::fabric {

// The completions of one work queue that wait for their time, in order.
class LateCompletions {
 public:
  using Push = absl::AnyInvocable<void()>;

  // The most that wait.  The oldest comes earlier when there are more.
  static constexpr size_t kMax = 1 << 14;

  explicit LateCompletions(Timers& timers) : timers_(timers) {}
  ~LateCompletions() { Clear(); }
  LateCompletions(const LateCompletions&) = delete;
  LateCompletions& operator=(const LateCompletions&) = delete;

  // Returns true if a completion with this delay of its own has to wait: also
  // for those before it.
  bool Delays(absl::Duration delay) const {
    return !late_.empty() || delay > absl::ZeroDuration();
  }
  // Calls `push` after `delay`, and after those that were added before.
  void Add(absl::Duration delay, Push push);
  // Calls all that wait: the queue is flushed, which ends every wait.
  void PushAll();
  void Clear();

 private:
  struct Late {
    absl::Time due;
    Push push;
  };

  void Arm();
  void PushOldest();
  void PushDue();

  Timers& timers_;
  std::deque<Late> late_;
  TimerId timer_ = TimerId::kNone;  // of the oldest
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_LATE_COMPLETIONS_H_
