#include "fast_path/preload/umad_poll.h"

#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>

#include "fast_path/preload/next_calls.h"
#include "fast_path/preload/umad_client.h"

namespace ibemu::fast_path {
namespace {

constexpr int64_t kMillisecond = 1000000;
// An answer often comes within microseconds, and who sleeps until then pays a
// switch or two.  Others may have the processor meanwhile.
constexpr int64_t kSpin = 20000;
// The kernel is asked once in a while, for a daemon may be gone that said
// nothing.
constexpr int64_t kSlice = 1000 * kMillisecond;

int64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000 * kMillisecond + now.tv_nsec;
}

// Sleeps until the daemon has put something there, a signal was handled
// (returns false) or the time is over.  As poll() it ends with EINTR even
// where other calls are restarted, which a futex does if it has a timeout.
// Nothing of ours is held meanwhile, since the thread may be cancelled.
bool SleepOn(std::atomic<uint32_t>& event, uint32_t seen, int64_t time) {
  const timespec limit = {time / (1000 * kMillisecond),
                          time % (1000 * kMillisecond)};
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
    // Without a wait there is no reason to ask for the time.
    if (std::optional<Outcome> outcome = Look()) return Tell(*outcome);
    if (timeout_ms_ == 0) {
      sched_yield();  // who asks again and again keeps the daemon from
                      // answering
      return Tell(Look().value_or(0));
    }
    int64_t awake = Now();
    while (true) {
      const int64_t now = Now();
      if (timeout_ms_ > 0 && now >= end_) return Tell(0);
      if (now - awake < kSpin) {
        sched_yield();
      } else if (!Sleep(now)) {
        errno = EINTR;
        return -1;
      } else {
        awake = Now();
      }
      if (std::optional<Outcome> outcome = Look()) return Tell(*outcome);
    }
  }

 private:
  // Events; kUnknown: ask the kernel.
  using Outcome = int;
  static constexpr Outcome kUnknown = -1;

  // Returns nothing if there is none of the events yet.
  std::optional<Outcome> Look() {
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

  std::optional<int> Tell(Outcome outcome) {
    if (outcome == kUnknown) return AskKernel();
    entry_.revents = static_cast<short>(outcome);
    return outcome == 0 ? 0 : 1;
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
    // Only the kernel knows whether the daemon still lives.
    pollfd now_there = {entry_.fd, 0, 0};
    if (Now() - now >= kSlice && next_poll(&now_there, nfds_t{1}, 0) != 0) {
      files_.Forget(static_cast<unsigned>(entry_.fd),
                    static_cast<unsigned>(entry_.fd));
    }
    return true;
  }

  AttachedFiles& files_;
  pollfd& entry_;
  int& timeout_ms_;
  int64_t end_ = 0;
  uint32_t seen_ = 0;
};

}  // namespace

std::optional<int> PollUmad(AttachedFiles& files, pollfd& entry,
                            int& timeout_ms) {
  return Wait(files, entry, timeout_ms).Run();
}

}  // namespace ibemu::fast_path
