// The tasks of a time-line, ordered by deadline, then by insertion.
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

// Shared by the real loop and by testing::VirtualTimers, so that both run tasks
// in the same order.  Knows no clock: the owner passes the time.
class TimerQueue {
 public:
  TimerId Add(absl::Time deadline, Timers::Task task);
  void AddSoon(Timers::Task task);
  void Cancel(TimerId id);

  // The earliest deadline; InfinitePast when a RunSoon task waits, nullopt when
  // nothing does.
  std::optional<absl::Time> NextDeadline() const;

  // Runs every RunSoon task, those added meanwhile included.
  void RunSoonTasks();

  // Runs what is due at `now` (RunSoon tasks first and in between), but not
  // timers that are added meanwhile with a later deadline.  Returns how many
  // timers ran.
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
