// A clock for tests that does not wait.
#ifndef IBEMU_TESTING_VIRTUAL_TIMERS_H_
#define IBEMU_TESTING_VIRTUAL_TIMERS_H_

#include <algorithm>
#include <utility>
#include <vector>

#include "base/timer_queue.h"
#include "base/timers.h"

namespace ibemu::testing {

// A VirtualTimers jumps from deadline to deadline, so that tests take no time.
class VirtualTimers : public Timers {
 public:
  absl::Time Now() const override { return now_; }
  TimerId RunAt(absl::Time deadline, Task task) override {
    return queue_.Add(std::max(deadline, now_), std::move(task));
  }
  void RunSoon(Task task) override { queue_.AddSoon(std::move(task)); }
  void RunIdle(Task task) override { idle_.push_back(std::move(task)); }
  void Cancel(TimerId id) override { queue_.Cancel(id); }

  // Runs what is due now, without moving the clock.
  void RunPending() {
    queue_.RunDue(now_);
    RunIdleTasks();
  }

  // Moves the clock on by `span`, from deadline to deadline.
  void RunFor(absl::Duration span) {
    const absl::Time end = now_ + span;
    queue_.RunSoonTasks();
    for (auto next = queue_.NextDeadline(); next && *next <= end;
         next = queue_.NextDeadline()) {
      now_ = std::max(now_, *next);
      queue_.RunDue(now_);
    }
    now_ = end;
    RunIdleTasks();
  }

  // Returns true if no task waits.  Tests that end so leak no timer.
  bool idle() const {
    return idle_.empty() && !queue_.NextDeadline().has_value();
  }

 private:
  void RunIdleTasks() {
    for (Task& task : std::exchange(idle_, {})) {
      task();
      queue_.RunSoonTasks();
    }
  }

  absl::Time now_ = absl::UnixEpoch();
  TimerQueue queue_;
  std::vector<Task> idle_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_VIRTUAL_TIMERS_H_
