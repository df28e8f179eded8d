// A queue of timer tasks.
#ifndef IBEMU_BASE_TIMER_QUEUE_H_
#define IBEMU_BASE_TIMER_QUEUE_H_

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timers.h"

namespace ibemu {

// A TimerQueue holds the tasks of a Timers, ordered by deadline, then by
// insertion.  The real loop and testing::VirtualTimers share it, so that both
// run tasks in the same order.  It has no clock: its owner passes the time.
class TimerQueue {
 public:
  TimerId Add(absl::Time deadline, Timers::Task task);
  void AddSoon(Timers::Task task);
  void Cancel(TimerId id);

  // Returns the earliest deadline; InfinitePast if a RunSoon() task waits,
  // nullopt if nothing waits.
  std::optional<absl::Time> NextDeadline() const;

  // Runs every RunSoon() task, including those added meanwhile.
  void RunSoonTasks();

  // Runs the timers that are due at `now`, and RunSoon() tasks before the first
  // and after each of them.  Timers that are added meanwhile with a later
  // deadline do not run.  Returns how many timers ran.
  int RunDue(absl::Time now);

 private:
  using Key = std::pair<absl::Time, uint64_t>;

  uint64_t last_id_ = 0;
  std::map<Key, Timers::Task> tasks_;
  absl::flat_hash_map<uint64_t, absl::Time> deadlines_;  // by id
  std::deque<Timers::Task> soon_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_TIMER_QUEUE_H_
