// QueueLimit: the number of entries that a queue may have.
#ifndef IBEMU_VERBS_PARTS_QUEUE_LIMIT_H_
#define IBEMU_VERBS_PARTS_QUEUE_LIMIT_H_

#include <algorithm>
#include <cstdint>

namespace ibemu::verbs {

// A QueueLimit is the size of a queue.  For entries that were promised before
// others took their places it may be exceeded, by once as many at most, until
// there are fewer again.
class QueueLimit {
 public:
  explicit QueueLimit(uint32_t size) : size_(size), most_(size) {}

  uint32_t size() const { return size_; }
  void Resize(uint32_t size) { most_ = size_ = size; }

  // `taken`: how many entries the queue has.
  bool IsFull(uint64_t taken) const { return taken >= most_; }
  uint64_t Free(uint64_t taken) const {
    return taken < size_ ? size_ - taken : 0;
  }

  // Lets `entries` more be added.
  void MakeRoom(uint64_t taken, uint64_t entries) {
    most_ = std::clamp<uint64_t>(taken + entries, size_, uint64_t{2} * size_);
  }
  // The queue has become emptier.
  void Shrink(uint64_t taken) {
    most_ = std::max<uint64_t>(size_, std::min(most_, taken));
  }

 private:
  uint32_t size_;
  uint64_t most_;
};

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_QUEUE_LIMIT_H_
