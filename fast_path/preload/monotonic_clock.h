// The time that waits are measured by.
#ifndef IBEMU_FAST_PATH_PRELOAD_MONOTONIC_CLOCK_H_
#define IBEMU_FAST_PATH_PRELOAD_MONOTONIC_CLOCK_H_

#include <cstdint>
#include <ctime>

namespace ibemu::fast_path {

// Times are in nanoseconds.
inline constexpr int64_t kMicrosecond = 1000;
inline constexpr int64_t kMillisecond = 1000 * kMicrosecond;
inline constexpr int64_t kSecond = 1000 * kMillisecond;

// Returns the time of CLOCK_MONOTONIC.
inline int64_t Now() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecond + now.tv_nsec;
}

inline timespec ToTimespec(int64_t time) {
  return {time / kSecond, time % kSecond};
}

}  // namespace ibemu::fast_path

#endif  // IBEMU_FAST_PATH_PRELOAD_MONOTONIC_CLOCK_H_
