// Time, as the rest of ibemu sees it.
#ifndef IBEMU_BASE_TIMERS_H_
#define IBEMU_BASE_TIMERS_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace ibemu {

// Names one pending task.  Never reused, so a stale id is harmless.
enum class TimerId : uint64_t { kNone = 0 };

// The one time-line.  The loop (daemon/) implements it with the real clock,
// testing::VirtualTimers with a clock that jumps from deadline to deadline.
// Everything runs on the loop thread; no call runs a task before it returns.
class Timers {
 public:
  using Task = absl::AnyInvocable<void()>;

  virtual ~Timers() = default;

  virtual absl::Time Now() const = 0;

  // Runs `task` once at `deadline`, or as soon as possible when that is past.
  // Tasks with the same deadline run in the order of their insertion.
  virtual TimerId RunAt(absl::Time deadline, Task task) = 0;

  // Runs `task` when the current handler has returned, before any timer and in
  // FIFO order: the cheap way to defer.  It can't be cancelled.
  virtual void RunSoon(Task task) = 0;

  // Runs `task` when there is nothing else to do, or soon although there always
  // is: for what others should go before.  It can't be cancelled.
  virtual void RunIdle(Task task) = 0;

  // Forgets a task.  No effect when it has run or is kNone.
  virtual void Cancel(TimerId id) = 0;

  TimerId RunAfter(absl::Duration delay, Task task) {
    return RunAt(Now() + delay, std::move(task));
  }
};

}  // namespace ibemu

#endif  // IBEMU_BASE_TIMERS_H_
