// The threads of a WorkerPool: they take jobs and say when they are through.
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

// Threads are detached and share the ownership of this object, because one that
// is stuck can't be joined.  Every method may be called from any thread.
class WorkerPool::Threads
    : public std::enable_shared_from_this<WorkerPool::Threads> {
 public:
  // At most `limit` threads work at the same time.
  Threads(Post post, int limit);

  // Runs `job` on some thread; `done` then goes to the loop thread.
  void Enqueue(uint64_t id, Job job, absl::AnyInvocable<void()> done);

  // Whether `id` still waits for a thread.
  bool IsWaiting(uint64_t id) const;

  // The thread that runs `id` no longer counts, until it is through.  False
  // when it is through already.
  bool WriteOff(uint64_t id);

  int written_off() const;

  // `task` goes to the loop thread unless Close() was called.
  void PostToLoop(absl::AnyInvocable<void()> task);

  // Drops what waits, and waits for what runs, but not longer than `patience`.
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
  std::unordered_set<uint64_t> running_;  // by job, written off ones excluded
  std::unordered_set<uint64_t> written_off_;
};

}  // namespace ibemu

#endif  // IBEMU_BASE_WORKER_THREADS_H_
