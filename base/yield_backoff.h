// YieldBackoff: the decision whether who waits should yield or sleep.
#ifndef IBEMU_BASE_YIELD_BACKOFF_H_
#define IBEMU_BASE_YIELD_BACKOFF_H_

#include <algorithm>
#include <atomic>
#include <cstdint>

namespace ibemu {

// A YieldBackoff forbids sched_yield() for a while after one that took long.  A
// yield to a process that only computes costs a time slice of it, each time,
// and who sleeps is woken at once.  It is for waits that may do either, and
// needs nothing but the C library.
//
// Times are in nanoseconds, of one clock that never goes back, which the owner
// reads.  Threads may share one: what one of them learns is true of the others'
// processor, too, or soon forgotten.  Memory that is all zero is a new one.
class YieldBackoff {
 public:
  // A yield is long from here on: less than the shortest time slice, and more
  // than the other side of a wait has to do at once.
  static constexpr int64_t kLong = 500'000;
  // How long none is allowed.  Each time doubles, if the yields since the one
  // before were few, for it costs more to sleep than to yield to each other.
  static constexpr int64_t kShortestPause = 2'000'000;
  static constexpr int64_t kLongestPause = 512'000'000;
  static constexpr uint32_t kFew = 64;

  // Returns true if who waits may yield at `now`.
  bool MayYield(int64_t now) const {
    return now >= end_.load(std::memory_order_relaxed);
  }

  // A yield lasted from `began` to `ended`.
  void OnYield(int64_t began, int64_t ended) {
    const uint32_t shorts = shorts_.load(std::memory_order_relaxed);
    if (ended - began < kLong) {
      shorts_.store(std::min(shorts + 1, kFew), std::memory_order_relaxed);
      return;
    }
    const int64_t pause =
        shorts < kFew ? 2 * pause_.load(std::memory_order_relaxed) : 0;
    const int64_t next = std::clamp(pause, kShortestPause, kLongestPause);
    pause_.store(next, std::memory_order_relaxed);
    end_.store(ended + next, std::memory_order_relaxed);
    shorts_.store(0, std::memory_order_relaxed);
  }

 private:
  std::atomic<int64_t> end_ = 0;      // of the pause
  std::atomic<int64_t> pause_ = 0;    // the last one
  std::atomic<uint32_t> shorts_ = 0;  // yields since then, kFew at most
};

}  // namespace ibemu

#endif  // IBEMU_BASE_YIELD_BACKOFF_H_
