#include "loop/thread_handoff.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

namespace ibemu {

// Shared with all threads, because one that is held up can't be joined.
class ThreadHandoff::State
    : public std::enable_shared_from_this<ThreadHandoff::State> {
 public:
  explicit State(absl::Duration timeout)
      : timeout_(absl::ToChronoNanoseconds(timeout)) {}

  void Run(std::function<bool()> body) {
    body_ = std::move(body);
    StartWatcher();
    std::thread([self = shared_from_this()] { self->Carry(); }).detach();
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return ended_; });
  }

  void Close() {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    changed_.notify_all();
  }

  bool Try(absl::FunctionRef<void()> call) {
    const uint64_t inside = calls_.fetch_add(1) + 1;
    if (!watched_.load()) WakeWatcher();
    call();
    uint64_t expected = inside;
    return calls_.compare_exchange_strong(expected, inside + 1);
  }

 private:
  // Runs the body on this thread.
  void Carry() {
    if (body_()) Close();
  }

  void StartWatcher() {
    std::thread([self = shared_from_this()] { self->Watch(); }).detach();
  }

  // Whoever was asleep looks again; a call that begins just now is seen by one
  // of the two.
  void WakeWatcher() {
    const std::lock_guard lock(mutex_);
    watched_ = true;
    changed_.notify_all();
  }

  // Looks at the calls as long as there are any; then sleeps.
  void Watch() {
    std::unique_lock lock(mutex_);
    while (!ended_) {
      const uint64_t seen = calls_.load();
      changed_.wait_for(lock, timeout_, [this] { return ended_; });
      if (ended_ || calls_.load() != seen) continue;
      if (IsInside(seen)) {
        lock.unlock();
        if (Replace(seen)) return;
        lock.lock();
        continue;
      }
      watched_ = false;
      // A call that begins just now may not have woken us.
      if (calls_.load() != seen) watched_ = true;
      changed_.wait(lock, [this] { return ended_ || watched_; });
    }
  }

  // Runs the body if the call numbered `inside` is still under way.  True when
  // another thread watches since.
  bool Replace(uint64_t inside) {
    // Somebody has to watch next; without, it goes on as it is.
    try {
      StartWatcher();
    } catch (const std::system_error&) {
      return false;
    }
    if (calls_.compare_exchange_strong(inside, inside + 1)) Carry();
    return true;
  }

  static bool IsInside(uint64_t calls) { return calls % 2 != 0; }

  const std::chrono::nanoseconds timeout_;
  std::function<bool()> body_;
  std::atomic<uint64_t> calls_ = 0;  // odd while one is under way
  std::atomic<bool> watched_ = true;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool ended_ = false;
};

ThreadHandoff::ThreadHandoff(absl::Duration timeout)
    : state_(std::make_shared<State>(timeout)) {}

ThreadHandoff::~ThreadHandoff() { state_->Close(); }

void ThreadHandoff::Run(std::function<bool()> body) {
  state_->Run(std::move(body));
}

bool ThreadHandoff::Try(absl::FunctionRef<void()> call) {
  // A thread that was replaced may return here after the handoff has ended.
  const std::shared_ptr<State> state = state_;
  return state->Try(call);
}

}  // namespace ibemu
