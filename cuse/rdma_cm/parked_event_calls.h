// ParkedEventCalls: GET_EVENTs that wait for events, in the order of their
// arrival.
#ifndef IBEMU_CUSE_RDMA_CM_PARKED_EVENT_CALLS_H_
#define IBEMU_CUSE_RDMA_CM_PARKED_EVENT_CALLS_H_

#include <sys/types.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <utility>

#include "cuse/reply.h"

namespace ibemu::cuse {

// A GET_EVENT that is not answered yet.
struct EventCall {
  WriteReply reply;
  size_t size = 0;       // of the write()
  pid_t caller = 0;      // the thread that waits
  uint64_t address = 0;  // of the answer, in its memory
  size_t room = 0;       // for the answer
};

// A ParkedEventCalls keeps the waiting calls of one open file, of any number of
// threads.  The owner answers those that it takes out.
class ParkedEventCalls {
 public:
  bool empty() const { return calls_.empty(); }
  void Park(EventCall call) { calls_.push_back(std::move(call)); }

  // REQUIRES: !empty().
  EventCall TakeFirst() {
    EventCall call = std::move(calls_.front());
    calls_.pop_front();
    return call;
  }

  // Fails the call `id` with EINTR.  Has no effect if it isn't here.
  void Interrupt(RequestId id) {
    const auto it = std::ranges::find_if(
        calls_, [id](const EventCall& call) { return call.reply.id() == id; });
    if (it == calls_.end()) return;
    EventCall call = std::move(*it);
    calls_.erase(it);
    call.reply.Fail(Errno::kInterrupted);
  }

 private:
  std::deque<EventCall> calls_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_PARKED_EVENT_CALLS_H_
