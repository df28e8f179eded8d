#include "loop/loop_core.h"

#include <sched.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <mutex>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"

namespace ibemu {
namespace {

// Others wait for so many rounds of eager descriptors at most,
constexpr int kMaxAtOnce = 16;
// which are so many,
constexpr size_t kMaxEager = 4;
// and had something to say in one of the last busy waits.
constexpr int kMaxVain = 8;

// To ask the kernel for their requests takes as long as to handle one that was
// looked for, and who shares memory mostly has the next one soon.
constexpr absl::Duration kEagerPause = absl::Microseconds(5);

// Idle tasks wait for so many rounds at most.
constexpr int kMaxRounds = 4;

// Others wait so long for a brief job, twice at most.  It is longer than a
// thread has to wait for its turn on a busy machine.
constexpr absl::Duration kBriefJobTimeout = absl::Milliseconds(5);

// The handler of a watcher for whom nobody waits busily.
absl::AnyInvocable<bool()> Patient(absl::AnyInvocable<void()> ready) {
  return [ready = std::move(ready)]() mutable {
    ready();
    return false;
  };
}

// A clock that somebody sets must not fire timeouts.
absl::Time MonotonicTime() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return absl::TimeFromTimespec(now);
}

}  // namespace

class LoopCore::Mailbox {
 public:
  ~Mailbox() {
    if (fd_ >= 0) close(fd_);
  }

  absl::Status Open() {
    fd_ = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return fd_ < 0 ? absl::ErrnoToStatus(errno, "eventfd") : absl::OkStatus();
  }

  int fd() const { return fd_; }

  void Put(absl::AnyInvocable<void()> task) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    tasks_.push_back(std::move(task));
    if (tasks_.size() != 1) return;
    const uint64_t one = 1;
    // Fails only when the counter is full, and then it is readable anyway.
    [[maybe_unused]] const ssize_t written = write(fd_, &one, sizeof one);
  }

  std::vector<absl::AnyInvocable<void()>> Take() {
    uint64_t count;
    [[maybe_unused]] const ssize_t got = read(fd_, &count, sizeof count);
    const std::lock_guard lock(mutex_);
    return std::exchange(tasks_, {});
  }

  void Close() {
    std::vector<absl::AnyInvocable<void()>> dropped;
    const std::lock_guard lock(mutex_);
    closed_ = true;
    dropped.swap(tasks_);
  }

 private:
  int fd_ = -1;
  std::mutex mutex_;
  bool closed_ = false;
  std::vector<absl::AnyInvocable<void()>> tasks_;
};

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

LoopCore::LoopCore() : mailbox_(std::make_shared<Mailbox>()) {}

LoopCore::~LoopCore() { mailbox_->Close(); }

absl::Status LoopCore::Init() {
  IBEMU_RETURN_IF_ERROR(mailbox_->Open());
  return Watch(mailbox_->fd(), [this] {
    for (absl::AnyInvocable<void()>& task : mailbox_->Take()) {
      task();
      timers_.RunSoonTasks();
    }
  });
}

absl::Time LoopCore::Now() const { return MonotonicTime(); }

TimerId LoopCore::RunAt(absl::Time deadline, Task task) {
  return timers_.Add(deadline, std::move(task));
}

void LoopCore::RunSoon(Task task) { timers_.AddSoon(std::move(task)); }

void LoopCore::RunIdle(Task task) { idle_.push_back(std::move(task)); }

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

bool LoopCore::Dispatch(const Interest& interest) {
  if (Call(interest)) OnFound(interest);
  if (!RunBriefJobs()) return false;
  if (Find(interest) != nullptr) Rearm(interest);
  return true;
}

void LoopCore::OnFound(const Interest& interest) {
  found_ = true;
  const auto known =
      std::find_if(eager_.begin(), eager_.end(), [&](const Eager& eager) {
        return eager.interest.Pack() == interest.Pack();
      });
  if (known != eager_.end()) {
    known->vain = 0;
  } else if (eager_.size() < kMaxEager) {
    eager_.push_back({interest});
  }
}

// Clients often ask in turns, so all who asked lately are waited for.
bool LoopCore::WaitBusily() {
  const bool goes_on = std::exchange(broken_off_, false);
  if (std::exchange(found_, false)) {
    std::erase_if(eager_, [](Eager& eager) { return ++eager.vain > kMaxVain; });
    busy_wait_.OnRequest(Now() - answered_);
    answered_ = Now();
  } else if (!goes_on) {
    return true;
  }
  for (int served = 0; busy_wait_.Pays();) {
    if (served == kMaxAtOnce) {
      broken_off_ = true;
      break;
    }
    const bool looked = Look();
    if (!RunBriefJobs()) return false;
    if (looked) found_by_look_ = Now();
    const bool asks = !looked && Now() - found_by_look_ >= kEagerPause;
    bool found = looked;
    for (Eager& eager : eager_) {
      if (!asks || !Call(eager.interest)) continue;
      found = true;
      eager.vain = 0;
      if (!RunBriefJobs()) return false;
    }
    const absl::Time now = Now();
    if (found) {
      busy_wait_.OnRequest(now - answered_);
      answered_ = now;
      ++served;
    } else if (!brief_jobs_.empty()) {
      if (!RunBriefJobs()) return false;
      answered_ = Now();
    } else if (!idle_.empty()) {
      if (!RunIdleTasks()) return false;
    } else if (now - answered_ >= BusyWaitPolicy::kSpan) {
      busy_wait_.OnVain();
      return true;
    } else if (!yields_.MayYield(absl::ToUnixNanos(now))) {
      return true;
    } else {
      sched_yield();
      yields_.OnYield(absl::ToUnixNanos(now), absl::ToUnixNanos(Now()));
    }
    if (stopped_) break;
    if (timers_.NextDeadline().value_or(absl::InfiniteFuture()) <= now) {
      broken_off_ = true;
      break;
    }
  }
  return true;
}

bool LoopCore::Look() {
  if (polled_ == nullptr || !polled_->Look()) return false;
  timers_.RunSoonTasks();
  return true;
}

void LoopCore::Post(absl::AnyInvocable<void()> task) {
  mailbox_->Put(std::move(task));
}

void LoopCore::RunBriefly(BriefJob job) {
  brief_jobs_.push_back(std::move(job));
}

// Runs the jobs that are waiting now; jobs that they add run in a later turn.
bool LoopCore::RunBriefJobs() {
  for (size_t left = brief_jobs_.size(); left > 0; --left) {
    BriefJob job = std::move(brief_jobs_.front());
    brief_jobs_.pop_front();
    late_ = std::move(job.late);
    const std::shared_ptr<Mailbox> mailbox = mailbox_;
    absl::Duration took;
    const auto run = [&job, &took] {
      const absl::Time began = MonotonicTime();
      job.run();
      took = MonotonicTime() - began;
    };
    if (!handoff_->Try(run)) {
      mailbox->Put(
          [done = std::move(job.done), took]() mutable { done(took); });
      return false;
    }
    late_ = nullptr;
    job.done(took);
    timers_.RunSoonTasks();
  }
  return true;
}

bool LoopCore::RunIdleTasks() {
  rounds_ = 0;
  for (Task& task : std::exchange(idle_, {})) {
    task();
    timers_.RunSoonTasks();
  }
  return RunBriefJobs();
}

void LoopCore::Run() {
  stopped_ = false;
  LeaveThisThread();
  handoff_ = std::make_unique<ThreadHandoff>(kBriefJobTimeout);
  handoff_->Run([this] { return Carry(); });
  MoveToThisThread();
}

bool LoopCore::Carry() {
  MoveToThisThread();
  // By default the kernel may end a wait 50 us late, which is too long here.
  prctl(PR_SET_TIMERSLACK, 1000UL);
  if (late_ != nullptr) std::exchange(late_, nullptr)();
  std::vector<Interest> ready;
  while (true) {
    timers_.RunDue(Now());
    forgotten_.clear();
    if (!RunBriefJobs()) return false;
    if (stopped_) break;

    ready.clear();
    Sleep(ready);
    if (Look()) found_ = true;
    if (!RunBriefJobs()) return false;
    for (const Interest& interest : ready) {
      if (!Dispatch(interest)) return false;
    }
    if (!WaitBusily()) return false;
    const bool idle = ready.empty() && brief_jobs_.empty();
    if (!idle_.empty() && (idle || ++rounds_ == kMaxRounds)) {
      if (!RunIdleTasks()) return false;
    }
  }
  LeaveThisThread();
  return true;
}

// Waits for the kernel's events until the next deadline.  Who shares a ring
// with us is told only of a wait that may last.
void LoopCore::Sleep(std::vector<Interest>& ready) {
  std::optional<absl::Duration> timeout;
  if (const auto next = timers_.NextDeadline()) {
    timeout = std::max(*next - Now(), absl::ZeroDuration());
  }
  const bool has_work = broken_off_ || !brief_jobs_.empty() || !idle_.empty();
  if (has_work) timeout = absl::ZeroDuration();
  const bool tells = polled_ != nullptr && timeout != absl::ZeroDuration();
  if (tells && !polled_->BeforeSleep()) timeout = absl::ZeroDuration();
  Wait(timeout, ready);
  if (tells) polled_->AfterSleep();
}

std::vector<LoopCore::Interest> LoopCore::Interests() const {
  std::vector<Interest> interests;
  for (size_t fd = 0; fd < watchers_.size(); ++fd) {
    const Watcher* const watcher = watchers_[fd].get();
    if (watcher == nullptr) continue;
    const auto add = [&](Direction direction) {
      interests.push_back(
          {static_cast<int>(fd), watcher->generation, direction});
    };
    if (watcher->on_readable != nullptr) add(Direction::kRead);
    if (watcher->on_writable != nullptr) add(Direction::kWrite);
  }
  return interests;
}

void LoopCore::Stop() { stopped_ = true; }

}  // namespace ibemu
