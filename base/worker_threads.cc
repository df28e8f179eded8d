#include "base/worker_threads.h"

#include <signal.h>

#include <algorithm>
#include <thread>
#include <utility>

namespace ibemu {
namespace {

// A scope with all signals blocked.  Threads start in it, because signals are
// for the loop.
class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

}  // namespace

WorkerPool::Threads::Threads(Post post, int limit)
    : post_(std::move(post)), limit_(static_cast<size_t>(limit)) {}

void WorkerPool::Threads::Enqueue(uint64_t id, Job job,
                                  absl::AnyInvocable<void()> done) {
  const std::lock_guard lock(mutex_);
  waiting_.push_back({id, std::move(job), std::move(done)});
  StartThreads();
  changed_.notify_all();
}

void WorkerPool::Threads::StartThreads() {
  const SignalsBlocked blocked;
  for (size_t ready = idle_; ready < waiting_.size() && counted_ < limit_;
       ++ready) {
    ++counted_;
    std::thread([self = shared_from_this()] { self->Loop(); }).detach();
  }
}

bool WorkerPool::Threads::IsWaiting(uint64_t id) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(waiting_.begin(), waiting_.end(),
                     [id](const Work& work) { return work.id == id; });
}

bool WorkerPool::Threads::WriteOff(uint64_t id) {
  const std::lock_guard lock(mutex_);
  if (running_.erase(id) == 0) return false;
  written_off_.insert(id);
  --counted_;
  StartThreads();
  return true;
}

void WorkerPool::Threads::PostToLoop(absl::AnyInvocable<void()> task) {
  // This needs the lock, because the loop may be gone once Close() has
  // returned.
  const std::lock_guard lock(mutex_);
  if (!closed_) post_(std::move(task));
}

void WorkerPool::Threads::Close(absl::Duration patience) {
  std::unique_lock lock(mutex_);
  closed_ = true;
  const std::deque<Work> dropped = std::exchange(waiting_, {});
  changed_.notify_all();
  changed_.wait_for(lock, absl::ToChronoNanoseconds(patience),
                    [this] { return running_.empty(); });
}

void WorkerPool::Threads::Loop() {
  std::unique_lock lock(mutex_);
  while (!closed_ && counted_ <= limit_) {
    if (waiting_.empty()) {
      ++idle_;
      changed_.wait(lock, [this] { return closed_ || !waiting_.empty(); });
      --idle_;
      continue;
    }
    Work work = std::move(waiting_.front());
    waiting_.pop_front();
    running_.insert(work.id);
    lock.unlock();
    work.job();
    work.job = nullptr;
    lock.lock();
    if (running_.erase(work.id) == 0) {  // written off, and back again
      written_off_.erase(work.id);
      ++counted_;
    }
    if (!closed_) post_(std::move(work.done));
    changed_.notify_all();
  }
  --counted_;
}

}  // namespace ibemu
