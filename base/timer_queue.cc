#include "base/timer_queue.h"

namespace ibemu {

TimerId TimerQueue::Add(absl::Time deadline, Timers::Task task) {
  const uint64_t id = ++last_id_;
  tasks_.emplace(Key{deadline, id}, std::move(task));
  deadlines_.emplace(id, deadline);
  return TimerId{id};
}

void TimerQueue::AddSoon(Timers::Task task) {
  soon_.push_back(std::move(task));
}

void TimerQueue::Cancel(TimerId id) {
  const auto found = deadlines_.find(static_cast<uint64_t>(id));
  if (found == deadlines_.end()) return;
  tasks_.erase(Key{found->second, found->first});
  deadlines_.erase(found);
}

std::optional<absl::Time> TimerQueue::NextDeadline() const {
  if (!soon_.empty()) return absl::InfinitePast();
  if (tasks_.empty()) return std::nullopt;
  return tasks_.begin()->first.first;
}

void TimerQueue::RunSoonTasks() {
  while (!soon_.empty()) {
    Timers::Task task = std::move(soon_.front());
    soon_.pop_front();
    task();
  }
}

int TimerQueue::RunDue(absl::Time now) {
  int ran = 0;
  RunSoonTasks();
  while (!tasks_.empty() && tasks_.begin()->first.first <= now) {
    auto due = tasks_.extract(tasks_.begin());
    deadlines_.erase(due.key().second);
    due.mapped()();
    ++ran;
    RunSoonTasks();
  }
  return ran;
}

}  // namespace ibemu
