#include "daemon/web/view/loop_questions.h"

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace ibemu::daemon {

struct LoopQuestions::Shared {
  std::mutex mutex;
  std::condition_variable news;
  bool closed = false;
};

LoopQuestions::LoopQuestions(Loop& loop, absl::Duration patience)
    : loop_(loop), patience_(patience), shared_(std::make_shared<Shared>()) {}

bool LoopQuestions::Ask(absl::FunctionRef<void()> question) {
  enum class State { kWaiting, kRunning, kDone, kGivenUp };
  // Shared with the loop, which may come to the question when nobody waits any
  // more.
  const auto state = std::make_shared<State>(State::kWaiting);
  loop_.Post([shared = shared_, state, question] {
    {
      const std::lock_guard lock(shared->mutex);
      if (*state == State::kGivenUp) return;
      *state = State::kRunning;
    }
    question();
    const std::lock_guard lock(shared->mutex);
    *state = State::kDone;
    shared->news.notify_all();
  });
  std::unique_lock lock(shared_->mutex);
  shared_->news.wait_for(lock, absl::ToChronoNanoseconds(patience_), [&] {
    return shared_->closed || *state != State::kWaiting;
  });
  if (*state == State::kWaiting) {
    *state = State::kGivenUp;
    return false;
  }
  shared_->news.wait(lock, [&] { return *state == State::kDone; });
  return true;
}

void LoopQuestions::Close() {
  const std::lock_guard lock(shared_->mutex);
  shared_->closed = true;
  shared_->news.notify_all();
}

}  // namespace ibemu::daemon
