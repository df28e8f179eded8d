// QueuePairFacts: the attributes, queues and counters of a queue pair.
#ifndef IBEMU_FABRIC_HISTORY_QUEUE_PAIR_FACTS_H_
#define IBEMU_FABRIC_HISTORY_QUEUE_PAIR_FACTS_H_

#include <cstdint>

#include "absl/time/time.h"
#include "verbs/hw_counters.h"
#include "verbs/qp_attributes.h"

namespace ibemu::fabric {

// A QueuePairFacts is a queue pair as it was when its program last modified or
// destroyed it; `attributes` are also those of a path that it moved to later.
// It outlives the queue pair, for `ibemu run --lint` and `ibemu why`.
struct QueuePairFacts {
  absl::Time time{};
  verbs::QpType type{};
  verbs::QpAttributes attributes{};
  bool may_send = false;  // it was in RTS
  bool signal_all = false;
  uint32_t send_requests = 0;     // that there is room for
  uint32_t receive_requests = 0;  // in a queue of its own
  uint32_t send_cq_size = 0, receive_cq_size = 0;
  bool one_cq = false;  // for both queues
  // As it was before it entered the error state, where all requests complete:
  // the places of its send queue that were taken up, whether a request there
  // ever asked for a completion, and of completion queues of which nothing was
  // ever polled, how many completions waited there.
  uint32_t sends_taken = 0;
  bool signaled = false;
  uint32_t send_cq_unpolled = 0, receive_cq_unpolled = 0;
  // Messages that found no receive request because of a fault.
  uint64_t kept_back = 0;
  verbs::HwCounters counters{};
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_HISTORY_QUEUE_PAIR_FACTS_H_
