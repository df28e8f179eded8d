// SendQueueEntries: the room in a send queue.
#ifndef IBEMU_VERBS_PARTS_SEND_QUEUE_ENTRIES_H_
#define IBEMU_VERBS_PARTS_SEND_QUEUE_ENTRIES_H_

#include <algorithm>
#include <cstdint>

#include "verbs/parts/queue_limit.h"

namespace ibemu::verbs {

// The entries of a send queue.  A work request takes one up when it is posted,
// and frees it when its completion, or that of a later request, is polled: only
// that tells the client that an unsignaled request is done, and so with mlx4
// and mlx5 adapters a queue of unsignaled requests fills up.
class SendQueueEntries {
 public:
  explicit SendQueueEntries(uint32_t size) : limit_(size) {}

  uint32_t size() const { return limit_.size(); }
  uint64_t taken() const { return posted_ - freed_; }
  bool full() const { return limit_.IsFull(taken()); }
  uint64_t free() const { return limit_.Free(taken()); }
  // Lets so many more be taken, see QueueLimit.
  void MakeRoom(uint64_t entries) { limit_.MakeRoom(taken(), entries); }
  // Takes an entry up and returns its number; numbers only grow.
  uint64_t Take() { return ++posted_; }
  // Frees the entries up to `number`.
  void FreeUpTo(uint64_t number) {
    freed_ = std::max(freed_, number);
    limit_.Shrink(taken());
  }
  void FreeAll() { FreeUpTo(posted_); }
  // The completion of an entry has come, after those of earlier ones.  Returns
  // how many entries it frees, once it is polled.
  uint32_t Complete(uint64_t number) {
    const uint64_t last = std::max(completed_, freed_);
    completed_ = std::max(last, number);
    return static_cast<uint32_t>(completed_ - last);
  }

 private:
  QueueLimit limit_;
  uint64_t posted_ = 0, completed_ = 0, freed_ = 0;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_SEND_QUEUE_ENTRIES_H_
