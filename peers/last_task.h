// LastTask: work that may wait for the network, beside who asks for it.
#ifndef IBEMU_PEERS_LAST_TASK_H_
#define IBEMU_PEERS_LAST_TASK_H_

#include <functional>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

namespace ibemu::peers {

// A LastTask does one task after the other, on a thread that there is while
// there are some.  Of those that are asked for meanwhile it does the last one,
// so whoever asks for many keeps no more than one thread at work.
template <class Task>
class LastTask {
 public:
  explicit LastTask(std::function<void(const Task&)> work)
      : work_(std::move(work)) {}
  // Waits for the task that is being done.
  ~LastTask() {
    const std::lock_guard lock(mutex_);
    next_.reset();
    // The thread is joined after the lock is given back, as a member.
  }
  LastTask(const LastTask&) = delete;
  LastTask& operator=(const LastTask&) = delete;

  // Does nothing if there can be no thread.  One thread calls this.
  void Do(Task task) {
    const std::lock_guard lock(mutex_);
    next_ = std::move(task);
    if (works_) return;
    if (thread_.joinable()) thread_.join();  // it has nothing more to do
    try {
      thread_ = std::jthread([this] { Work(); });
      works_ = true;
    } catch (const std::system_error&) {
      next_.reset();
    }
  }

 private:
  void Work() {
    while (const std::optional<Task> task = Next()) work_(*task);
  }
  std::optional<Task> Next() {
    const std::lock_guard lock(mutex_);
    works_ = next_.has_value();
    return std::exchange(next_, std::nullopt);
  }

  const std::function<void(const Task&)> work_;
  std::mutex mutex_;
  std::optional<Task> next_;  // guarded by `mutex_`
  bool works_ = false;        // guarded by `mutex_`: `thread_` will look again
  std::jthread thread_;       // the last member: it uses the others
};

}  // namespace ibemu::peers

#endif  // IBEMU_PEERS_LAST_TASK_H_
