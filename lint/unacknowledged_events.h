// UnacknowledgedEvents: completion events that a program has to acknowledge.
#ifndef IBEMU_LINT_UNACKNOWLEDGED_EVENTS_H_
#define IBEMU_LINT_UNACKNOWLEDGED_EVENTS_H_

#include <pthread.h>

#include <array>
#include <cstddef>

namespace ibemu::lint {

// An UnacknowledgedEvents counts those of the completion queues of a process,
// by their addresses.  It may be called by any thread.  Of queues that are more
// than kMax at a time it knows nothing.
class UnacknowledgedEvents {
 public:
  static constexpr size_t kMax = 256;

  // The program got an event of this queue.
  void OnEvent(const void* queue);
  // It acknowledged so many.
  void OnAcknowledged(const void* queue, unsigned count);

  // Returns how many are left.
  unsigned Of(const void* queue);

  // To be called in a child after fork(), before anything else: another thread
  // of the parent may have been at work here.
  void ForgetAll();

 private:
  struct Entry {
    const void* queue;
    unsigned count;  // 0: the entry is free
  };

  // Returns null if there is none.
  Entry* Find(const void* queue);

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::array<Entry, kMax> entries_{};
};

}  // namespace ibemu::lint

#endif  // IBEMU_LINT_UNACKNOWLEDGED_EVENTS_H_
