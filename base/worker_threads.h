// WorkerPool::Threads: the threads of a WorkerPool, which run jobs and report
// their end.
#ifndef IBEMU_BASE_WORKER_THREADS_H_
#define IBEMU_BASE_WORKER_THREADS_H_

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <unordered_set>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/worker_pool.h"

namespace ibemu {

// The threads of a pool.  They are detached and share the ownership of this
// object, because a stuck one can't be joined.  Every method may be called from
// any thread.
class WorkerPool::Threads
    : public std::enable_shared_from_this<WorkerPool::Threads> {
 public:
  // At most `limit` threads work at the same time.
  Threads(Post post, int limit);

  // Runs `job` on some thread, and then `done` on the loop thread.
  void Enqueue(uint64_t id, Job job, absl::AnyInvocable<void()> done);

  // Returns true if `id` still waits for a thread.
  bool IsWaiting(uint64_t id) const;

  // Stops counting the thread that runs `id` until it ends.  Returns false if
  // it has already ended.
  bool WriteOff(uint64_t id);

  // Runs `task` on the loop thread, unless Close() was called.
  void PostToLoop(absl::AnyInvocable<void()> task);

  // Drops waiting jobs, and waits for running ones, but not longer than
  // `patience`.
  void Close(absl::Duration patience);

 private:
  struct Work {
    uint64_t id = 0;
    Job job;
    absl::AnyInvocable<void()> done;
  };

  void StartThreads();  // with mutex_ held
  void Loop();

  const Post post_;
  const size_t limit_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closed_ = false;
  size_t idle_ = 0;
  size_t counted_ = 0;  // threads that are not written off
  std::deque<Work> waiting_;
  std::unordered_set<uint64_t> running_;  // by job, without written off ones
  std::unordered_set<uint64_t> written_off_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_WORKER_THREADS_H_
