#include "fast_path/preload/umad_poll.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>

#include "fast_path/preload/monotonic_clock.h"
#include "fast_path/preload/next_calls.h"
#include "fast_path/preload/umad_client.h"

namespace ibemu::fast_path {
namespace {

// An answer often comes within microseconds, and who sleeps until then pays a
// switch or two.  Others may have the processor meanwhile.
constexpr int64_t kSpin = 20 * kMicrosecond;
// Who waits longer waits in the kernel, which knows of a daemon that was
// killed.
constexpr int64_t kSlice = kSecond;

// Sleeps until the daemon has put something there, a signal was handled
// (returns false) or the time is over.  As poll() it ends with EINTR even
// where other calls are restarted, which a futex does if it has a timeout.
// Nothing of ours is held meanwhile, since the thread may be cancelled.
bool SleepOn(std::atomic<uint32_t>& event, uint32_t seen, int64_t time) {
  const timespec limit = ToTimespec(time);
  int type;
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
  const int result = static_cast<int>(
      syscall(SYS_futex, &event, FUTEX_WAIT, seen, &limit, nullptr, 0));
  pthread_setcanceltype(type, nullptr);
  return result == 0 || errno != EINTR;
}

// One poll() under way.
class Wait {
 public:
  Wait(AttachedFiles& files, pollfd& entry, int& timeout_ms)
      : files_(files), entry_(entry), timeout_ms_(timeout_ms) {
    if (timeout_ms > 0) end_ = Now() + timeout_ms * kMillisecond;
  }

  std::optional<int> Run() {
    if (const std::optional<Outcome> outcome = Look()) return Tell(*outcome);
    if (timeout_ms_ == 0) {
      // Who asks again and again keeps the daemon from answering.
      if (!MayYield()) return AskKernel();
      Yield(Now());
      return Tell(Look().value_or(0));
    }
    while (true) {
      if (MayYield()) {
        if (std::optional<Outcome> outcome = Spin()) return Tell(*outcome);
      }
      const int64_t now = Now();
      if (timeout_ms_ > 0 && now >= end_) return Tell(0);
      if (!Sleep(now)) return Interrupted();
      if (std::optional<Outcome> outcome = Look()) return Tell(*outcome);
    }
  }

 private:
  // Events; kUnknown: ask the kernel.
  using Outcome = int;
  static constexpr Outcome kUnknown = -1;
  static constexpr Outcome kInterrupted = -2;

  // Returns nothing if there is none of the events yet.
  std::optional<Outcome> Look() {
    if (waits_long_) return kUnknown;
    const AttachedFiles::Use use = files_.Find(entry_.fd);
    if (!use || use->kind != DeviceKind::kUmad) return kUnknown;
    auto& memory = *static_cast<UmadRingMemory*>(use->rings);
    seen_ = memory.control.event.load();
    const UmadClient client(memory, *files_.facts());
    const UmadClient::State state = client.Look();
    if (state == UmadClient::State::kUnknown) return kUnknown;
    int events = POLLOUT | POLLWRNORM;
    if (state == UmadClient::State::kReadable) events |= POLLIN | POLLRDNORM;
    events &= entry_.events;
    if (events != 0) return events;
    return std::nullopt;
  }

  bool MayYield() { return files_.facts()->yields.MayYield(Now()); }

  // Returns the time when others have run.
  int64_t Yield(int64_t began) {
    sched_yield();
    const int64_t ended = Now();
    files_.facts()->yields.OnYield(began, ended);
    return ended;
  }

  // Looks again and again for a while.  A handler that runs meanwhile has to
  // end the call, which only the kernel can tell: so none runs before its end.
  std::optional<Outcome> Spin() {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    const int64_t begin = Now();
    int64_t now = begin;
    std::optional<Outcome> outcome;
    do {
      now = Yield(now);
      outcome = Look();
    } while (!outcome && now - begin < kSpin);
    if (!outcome) {
      constexpr timespec kNoTime = {};
      if (next_ppoll(static_cast<pollfd*>(nullptr), nfds_t{0}, &kNoTime,
                     &before) != 0) {
        outcome = kInterrupted;
      }
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    return outcome;
  }

  std::optional<int> Tell(Outcome outcome) {
    if (outcome == kInterrupted) return Interrupted();
    if (outcome == kUnknown || (outcome == 0 && IsToAsk())) return AskKernel();
    entry_.revents = static_cast<short>(outcome);
    return outcome == 0 ? 0 : 1;
  }

  static int Interrupted() {
    errno = EINTR;
    return -1;
  }

  // Returns true once in a while: a daemon may be gone that said nothing.
  bool IsToAsk() {
    const AttachedFiles::Use use = files_.Find(entry_.fd);
    const int64_t now = Now();
    if (use && now - use->asked.load(std::memory_order_relaxed) < kSlice) {
      return false;
    }
    if (use) use->asked.store(now, std::memory_order_relaxed);
    return true;
  }

  std::optional<int> AskKernel() {
    if (timeout_ms_ > 0) {
      const int64_t left = std::max<int64_t>(end_ - Now(), 0);
      timeout_ms_ = static_cast<int>((left + kMillisecond - 1) / kMillisecond);
    }
    return std::nullopt;
  }

  // Returns false if a signal was handled.
  bool Sleep(int64_t now) {
    RingControl* control;
    {
      const AttachedFiles::Use use = files_.Find(entry_.fd);
      if (!use) return true;
      control = &static_cast<UmadRingMemory*>(use->rings)->control;
      control->waiting = 1;
      if (control->event.load() != seen_) return true;
    }
    int64_t time = kSlice;
    if (timeout_ms_ > 0) time = std::min(time, end_ - now);
    if (!SleepOn(control->event, seen_, time)) return false;
    if (Now() - now >= kSlice) waits_long_ = true;
    return true;
  }

  AttachedFiles& files_;
  pollfd& entry_;
  int& timeout_ms_;
  int64_t end_ = 0;
  uint32_t seen_ = 0;
  bool waits_long_ = false;
};

}  // namespace

std::optional<int> PollUmad(AttachedFiles& files, pollfd& entry,
                            int& timeout_ms) {
  const int errno_before = errno;
  const std::optional<int> result = Wait(files, entry, timeout_ms).Run();
  if (result != -1) errno = errno_before;
  return result;
}

}  // namespace ibemu::fast_path
