// A stand-in for Loop::Post.
#ifndef IBEMU_TESTING_POST_BOX_H_
#define IBEMU_TESTING_POST_BOX_H_

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <utility>

#include "absl/functional/any_invocable.h"

namespace ibemu::testing {

// A PostBox keeps what other threads post until the test runs it.
class PostBox {
 public:
  using Task = absl::AnyInvocable<void()>;

  // Returns the function to post with, from any thread.
  std::function<void(Task)> Poster() {
    return [this](Task task) {
      const std::lock_guard lock(mutex_);
      tasks_.push_back(std::move(task));
      posted_.notify_all();
    };
  }

  // Runs all that has been posted, on the calling thread.
  void Run() {
    std::deque<Task> tasks;
    {
      const std::lock_guard lock(mutex_);
      tasks.swap(tasks_);
    }
    for (Task& task : tasks) task();
  }

  // Waits until something is posted, then runs the oldest task only: a caller
  // who waits for one more finds the next.
  void WaitAndRun() {
    std::unique_lock lock(mutex_);
    posted_.wait(lock, [this] { return !tasks_.empty(); });
    Task task = std::move(tasks_.front());
    tasks_.pop_front();
    lock.unlock();
    task();
  }

 private:
  std::mutex mutex_;
  std::condition_variable posted_;
  std::deque<Task> tasks_;
};

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_POST_BOX_H_
