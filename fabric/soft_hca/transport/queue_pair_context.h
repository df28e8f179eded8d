// QueuePairContext: the properties of a queue pair and the parts of its adapter
// that all of its own parts share.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_QUEUE_PAIR_CONTEXT_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_QUEUE_PAIR_CONTEXT_H_

#include <cstdint>

#include "base/timers.h"
#include "fabric/history/queue_pair_history.h"
#include "fabric/soft_hca/transport/atomic_unit.h"
#include "fabric/soft_hca/transport/call_guard.h"
#include "verbs/hw_counters.h"
#include "verbs/parts/bounce_buffers.h"
#include "verbs/parts/completion_queue.h"
#include "verbs/parts/key_table.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// The properties of a queue pair, and the parts of its adapter that it uses.
// The queue pair changes `state` and `attributes`; its requester and responder
// only read them.
struct QueuePairContext {
  const uint32_t number;
  const verbs::QpInit init;
  verbs::ObjectListener& listener;

  // Parts of the adapter.
  Timers& timers;
  const verbs::KeyTable& keys;
  verbs::BounceBuffers& bounces;
  AtomicUnit& atomics;
  QueuePairHistory& history;

  verbs::HwCounters& counters;  // its own; its parts count
  verbs::QpState state = verbs::QpState::kReset;
  verbs::QpAttributes attributes{};
  // Wraps all callbacks.  It is invalidated by each reset or error.
  CallGuard guard{};

  bool IsReliable() const { return init.type == verbs::QpType::kRc; }
  // Returns true in the states in which packets are received.
  bool Receives() const {
    using enum verbs::QpState;
    return state == kReadyToReceive || state == kReadyToSend ||
           state == kSendQueueDrain || state == kSendQueueError;
  }
  verbs::CompletionQueue& send_cq() const {
    return static_cast<verbs::CompletionQueue&>(*init.send_cq);
  }
  verbs::CompletionQueue& receive_cq() const {
    return static_cast<verbs::CompletionQueue&>(*init.receive_cq);
  }

  // Returns the domain of the keys in receive requests.
  const verbs::Pd* receive_pd() const;
  // Completes the receive request `id`, which got no message.  Returns false if
  // the completion is lost.
  bool FlushReceive(uint64_t id, uint32_t status) const;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_QUEUE_PAIR_CONTEXT_H_
