// The end of a test's threads.
#ifndef IBEMU_TESTING_OTHER_THREADS_H_
#define IBEMU_TESTING_OTHER_THREADS_H_

#include <sched.h>

#include <filesystem>
#include <iterator>

namespace ibemu::testing {

// Waits until no other thread of this process is left: of detached ones, which
// were told to end.
inline void AwaitOtherThreads() {
  const std::filesystem::directory_iterator end;
  while (std::distance(std::filesystem::directory_iterator("/proc/self/task"),
                       end) > 1) {
    sched_yield();
  }
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_OTHER_THREADS_H_
