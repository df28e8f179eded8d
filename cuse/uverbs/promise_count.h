// PromiseCount: requests that a client may post without waiting.
#ifndef IBEMU_CUSE_UVERBS_PROMISE_COUNT_H_
#define IBEMU_CUSE_UVERBS_PROMISE_COUNT_H_

#include <cstddef>
#include <cstdint>

namespace ibemu::cuse {

// A PromiseCount counts the requests that a client has posted without waiting,
// and how many it may have posted so, both since the beginning.  Numbers wrap
// around.
class PromiseCount {
 public:
  // Promises that `room` more are taken.  Returns how many the client may have
  // posted altogether.
  uint32_t Promise(size_t room) {
    const auto until = static_cast<uint32_t>(posted_ + room);
    if (IsAfter(until, most_)) most_ = until;
    return until;
  }

  // The client has posted so many.  Returns false if that was never promised.
  bool Post(uint32_t requests) {
    if (requests > most_ - posted_) return false;
    posted_ += requests;
    return true;
  }

 private:
  static bool IsAfter(uint32_t one, uint32_t other) {
    return static_cast<int32_t>(one - other) > 0;
  }

  uint32_t posted_ = 0;
  uint32_t most_ = 0;  // that was ever promised, though less may be now
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_UVERBS_PROMISE_COUNT_H_
