// The clock and the timers of ibemu.
#ifndef IBEMU_BASE_TIMERS_H_
#define IBEMU_BASE_TIMERS_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"

namespace ibemu {

// The name of one pending task.  Ids are never reused, so a stale one is
// harmless.
enum class TimerId : uint64_t { kNone = 0 };

// A Timers is the only source of time, and runs tasks at set times.  The loop
// (daemon/) implements it with the real clock, testing::VirtualTimers with a
// clock that jumps from deadline to deadline.  Everything runs on the loop
// thread; no call runs a task before it returns.
class Timers {
 public:
  using Task = absl::AnyInvocable<void()>;

  virtual ~Timers() = default;

  virtual absl::Time Now() const = 0;

  // Runs `task` once at `deadline`, or as soon as possible if that is past.
  // Tasks with the same deadline run in the order of their insertion.
  virtual TimerId RunAt(absl::Time deadline, Task task) = 0;

  // Runs `task` when the current handler has returned, before any timer and in
  // FIFO order: the cheap way to defer work.  The task can't be cancelled.
  virtual void RunSoon(Task task) = 0;

  // Runs `task` when there is nothing else to do, or soon if there always is
  // something: for tasks before which other work should be done.  The task
  // can't be cancelled.
  virtual void RunIdle(Task task) = 0;

  // Drops a pending task.  Has no effect if the task has run or `id` is kNone.
  virtual void Cancel(TimerId id) = 0;

  TimerId RunAfter(absl::Duration delay, Task task) {
    return RunAt(Now() + delay, std::move(task));
  }
};

}  // namespace ibemu

#endif  // IBEMU_BASE_TIMERS_H_
