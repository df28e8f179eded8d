#include "lint/unacknowledged_events.h"

#include <algorithm>

namespace ibemu::lint {
namespace {

class Lock {
 public:
  explicit Lock(pthread_mutex_t& mutex) : mutex_(mutex) {
    pthread_mutex_lock(&mutex_);
  }
  ~Lock() { pthread_mutex_unlock(&mutex_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  pthread_mutex_t& mutex_;
};

}  // namespace

void UnacknowledgedEvents::OnEvent(const void* queue) {
  const Lock lock(mutex_);
  if (Entry* const known = Find(queue)) {
    ++known->count;
    return;
  }
  auto* const free = std::ranges::find(entries_, 0U, &Entry::count);
  if (free != entries_.end()) *free = {.queue = queue, .count = 1};
}

void UnacknowledgedEvents::OnAcknowledged(const void* queue, unsigned count) {
  const Lock lock(mutex_);
  if (Entry* const known = Find(queue)) {
    known->count -= std::min(known->count, count);
  }
}

unsigned UnacknowledgedEvents::Of(const void* queue) {
  const Lock lock(mutex_);
  const Entry* const known = Find(queue);
  return known == nullptr ? 0 : known->count;
}

void UnacknowledgedEvents::ForgetAll() {
  mutex_ = PTHREAD_MUTEX_INITIALIZER;
  entries_ = {};
}

UnacknowledgedEvents::Entry* UnacknowledgedEvents::Find(const void* queue) {
  auto* const found = std::ranges::find_if(entries_, [queue](const Entry& one) {
    return one.count != 0 && one.queue == queue;
  });
  return found == entries_.end() ? nullptr : found;
}

}  // namespace ibemu::lint
