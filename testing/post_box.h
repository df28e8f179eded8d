// Stands for Loop::Post in tests: keeps what other threads post.
#ifndef IBEMU_TESTING_POST_BOX_H_
#define IBEMU_TESTING_POST_BOX_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace ibemu::testing {

class PostBox {
 public:
  using Task = absl::AnyInvocable<void()>;

  std::function<void(Task)> Poster() {
    return [this](Task task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      posted_.notify_all();
    };
  }

  // Runs what has been posted, on the calling thread.
  void Run() {
    for (Task& task : Take()) task();
  }

  // Waits until something is posted, then runs it.
  void WaitAndRun() {
    {
      std::unique_lock lock(mutex_);
      posted_.wait(lock, [this] { return !tasks_.empty(); });
    }
    Run();
  }

 private:
  std::deque<Task> Take() {
    const std::lock_guard lock(mutex_);
    return std::exchange(tasks_, {});
  }

  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Task> tasks_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_POST_BOX_H_
