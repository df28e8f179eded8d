#include "daemon/loop_core.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu::daemon {
namespace {

// Others wait for so many requests of one eager descriptor at most.
constexpr int kMostAtOnce = 16;

// The handler of a watcher for whom nobody waits busily.
absl::AnyInvocable<bool()> Patient(absl::AnyInvocable<void()> ready) {
  return [ready = std::move(ready)]() mutable {
    ready();
    return false;
  };
}

}  // namespace

struct LoopCore::Watcher {
  uint32_t generation = 0;
  Handler on_readable;
  Handler on_writable;

  Handler& For(Direction direction) {
    return direction == Direction::kRead ? on_readable : on_writable;
  }
};

LoopCore::Interest LoopCore::Interest::Unpack(uint64_t packed) {
  return {.fd = static_cast<int>((packed & 0xffffffff) >> 1),
          .generation = static_cast<uint32_t>(packed >> 32),
          .direction = static_cast<Direction>(packed & 1)};
}

LoopCore::LoopCore() = default;

LoopCore::~LoopCore() {
  if (post_fd_ >= 0) close(post_fd_);
}

absl::Status LoopCore::Init() {
  post_fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
  if (post_fd_ < 0) return absl::ErrnoToStatus(errno, "eventfd");
  return Watch(post_fd_, [this] { RunPosted(); });
}

// The monotonic clock: a clock that somebody sets must not fire timeouts.
absl::Time LoopCore::Now() const {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

TimerId LoopCore::RunAt(absl::Time deadline, Task task) {
  return timers_.Add(deadline, std::move(task));
}

void LoopCore::RunSoon(Task task) { timers_.AddSoon(std::move(task)); }

void LoopCore::Cancel(TimerId id) { timers_.Cancel(id); }

absl::Status LoopCore::Watch(int fd, absl::AnyInvocable<void()> ready) {
  return Add(Direction::kRead, fd, Patient(std::move(ready)));
}

absl::Status LoopCore::WatchEagerly(int fd,
                                    absl::AnyInvocable<bool()> attempt) {
  return Add(Direction::kRead, fd, std::move(attempt));
}

absl::Status LoopCore::WatchWritable(int fd, absl::AnyInvocable<void()> ready) {
  return Add(Direction::kWrite, fd, Patient(std::move(ready)));
}

absl::Status LoopCore::Add(Direction direction, int fd, Handler handler) {
  // epoll and io_uring disagree about descriptors that can't be polled, so
  // they are refused before either sees them.
  struct stat status;
  if (fstat(fd, &status) != 0) {
    return absl::InvalidArgumentError(
        absl::StrFormat("descriptor %d is not open", fd));
  }
  if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "descriptor %d is a file or directory: it is always ready", fd));
  }
  const auto slot = static_cast<size_t>(fd);
  if (slot >= watchers_.size()) watchers_.resize(slot + 1);
  if (watchers_[slot] == nullptr) {
    watchers_[slot] = std::make_unique<Watcher>();
    watchers_[slot]->generation = ++generation_;
  }
  Watcher& watcher = *watchers_[slot];
  if (watcher.For(direction) != nullptr) {
    return absl::AlreadyExistsError(
        absl::StrFormat("descriptor %d is being watched", fd));
  }
  watcher.For(direction) = std::move(handler);
  absl::Status armed = Arm({fd, watcher.generation, direction});
  if (!armed.ok()) {
    watcher.For(direction) = nullptr;
    if (watcher.on_readable == nullptr && watcher.on_writable == nullptr) {
      watchers_[slot] = nullptr;
    }
  }
  return armed;
}

void LoopCore::Forget(int fd) {
  const auto slot = static_cast<size_t>(fd);
  if (fd < 0 || slot >= watchers_.size() || watchers_[slot] == nullptr) return;
  Watcher& watcher = *watchers_[slot];
  Disarm(fd, watcher.generation, watcher.on_readable != nullptr,
         watcher.on_writable != nullptr);
  forgotten_.push_back(std::move(watchers_[slot]));
}

LoopCore::Watcher* LoopCore::Find(const Interest& interest) {
  const auto slot = static_cast<size_t>(interest.fd);
  Watcher* watcher = slot < watchers_.size() ? watchers_[slot].get() : nullptr;
  if (watcher == nullptr || watcher->generation != interest.generation) {
    return nullptr;
  }
  return watcher->For(interest.direction) != nullptr ? watcher : nullptr;
}

bool LoopCore::Call(const Interest& interest) {
  Watcher* const watcher = Find(interest);
  if (watcher == nullptr) return false;
  const bool found = watcher->For(interest.direction)();
  timers_.RunSoonTasks();
  return found;
}

void LoopCore::Dispatch(const Interest& interest) {
  if (Call(interest)) eager_ = interest;
  if (Find(interest) != nullptr) Rearm(interest);
}

void LoopCore::WaitBusily() {
  const Interest interest = std::exchange(eager_, Interest{});
  if (interest.fd < 0) return;
  patience_.OnRequest(Now() - answered_);
  answered_ = Now();
  for (int served = 0; served < kMostAtOnce && patience_.Pays();) {
    const bool found = Call(interest);
    const absl::Time now = Now();
    if (found) {
      patience_.OnRequest(now - answered_);
      answered_ = now;
      ++served;
    } else if (now - answered_ >= Patience::kSpan) {
      return patience_.OnVain();
    } else {
      sched_yield();
    }
    if (stopped_ ||
        timers_.NextDeadline().value_or(absl::InfiniteFuture()) <= now) {
      return;
    }
  }
}

void LoopCore::Post(absl::AnyInvocable<void()> task) {
  bool first;
  {
    const std::lock_guard lock(mutex_);
    first = posted_.empty();
    posted_.push_back(std::move(task));
  }
  if (!first) return;
  const uint64_t one = 1;
  // Fails only when the counter is full, and then it is readable anyway.
  [[maybe_unused]] const ssize_t written = write(post_fd_, &one, sizeof one);
}

void LoopCore::RunPosted() {
  uint64_t count;
  [[maybe_unused]] const ssize_t got = read(post_fd_, &count, sizeof count);
  std::vector<absl::AnyInvocable<void()>> tasks;
  {
    const std::lock_guard lock(mutex_);
    tasks.swap(posted_);
  }
  for (absl::AnyInvocable<void()>& task : tasks) {
    task();
    timers_.RunSoonTasks();
  }
}

void LoopCore::Run() {
  stopped_ = false;
  std::vector<Interest> ready;
  while (true) {
    timers_.RunDue(Now());
    forgotten_.clear();
    if (stopped_) return;

    std::optional<absl::Duration> timeout;
    if (const auto next = timers_.NextDeadline()) {
      timeout = std::max(*next - Now(), absl::ZeroDuration());
    }
    ready.clear();
    Wait(timeout, ready);
    for (const Interest& interest : ready) Dispatch(interest);
    WaitBusily();
  }
}

void LoopCore::Stop() { stopped_ = true; }

}  // namespace ibemu::daemon
