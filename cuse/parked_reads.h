// ParkedReads: blocking reads that wait for data, in the order of their
// arrival.
#ifndef IBEMU_CUSE_PARKED_READS_H_
#define IBEMU_CUSE_PARKED_READS_H_

#include <algorithm>
#include <deque>
#include <utility>

#include "cuse/reply.h"

namespace ibemu::cuse {

// The parked reads of one file.
class ParkedReads {
 public:
  bool empty() const { return reads_.empty(); }
  void Park(ReadReply reply) { reads_.push_back(std::move(reply)); }

  // REQUIRES: !empty().
  ReadReply TakeFirst() {
    ReadReply reply = std::move(reads_.front());
    reads_.pop_front();
    return reply;
  }

  // Fails the read `id` with EINTR.  Has no effect if it isn't here.
  void Interrupt(RequestId id) {
    const auto it =
        std::find_if(reads_.begin(), reads_.end(),
                     [id](const ReadReply& read) { return read.id() == id; });
    if (it == reads_.end()) return;
    ReadReply reply = std::move(*it);
    reads_.erase(it);
    reply.Fail(Errno::kInterrupted);
  }

 private:
  std::deque<ReadReply> reads_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_PARKED_READS_H_
