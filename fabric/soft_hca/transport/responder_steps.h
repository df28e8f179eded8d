// ResponderSteps: the operations of a responder, in order.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_STEPS_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_STEPS_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>

#include "fabric/packet/transport.h"
#include "fabric/soft_hca/faults/late_completions.h"
#include "fabric/soft_hca/transport/fetch_responder.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/responder_step.h"
#include "verbs/parts/memory_transfer.h"
#include "verbs/provider.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {

// The list of a responder's steps.  Memory is accessed asynchronously, so
// several may be in progress, but they finish in the order in which they
// started: completions and acknowledgements follow that of the packets.
class ResponderSteps final : private FetchResponder::Listener {
 public:
  explicit ResponderSteps(QueuePairLink& link)
      : link_(link), qp_(link.qp()), fetches_(link, *this), late_(qp_.timers) {}
  ResponderSteps(const ResponderSteps&) = delete;
  ResponderSteps& operator=(const ResponderSteps&) = delete;

  // Adds a step, and finishes what can be finished.
  void Add(ResponderStep step);
  // Adds a step that is done when `transfer` has been written to memory.
  void Write(verbs::MemoryTransfer transfer, ResponderStep step);

  // Returns the number of bytes that are being written to memory.
  size_t writing_bytes() const { return writing_bytes_; }

  // The queue pair is in error: drops the steps and flushes the receive
  // requests that they would complete.  Returns the status of the request that
  // is flushed next: it failed if a part of its message did.
  uint32_t Flush();
  void Reset();

 private:
  void Run();
  void OnStepReady() override { Run(); }
  // Ends a step whose memory could not be accessed.
  void Fail(const ResponderStep& step);
  // Pushes the completion of a step.  Returns false if a fault makes it one
  // that ends in the error state.
  bool Complete(const ResponderStep& step);
  // Returns why the queue pair ends in the error state after a refusal.
  std::string RefusalText() const;
  void Push(const verbs::WorkCompletion& completion, bool solicited,
            absl::Duration delay = absl::ZeroDuration());
  void PushNow(const verbs::WorkCompletion& completion, bool solicited);
  void Acknowledge(Transport::Syndrome syndrome, uint32_t psn);
  uint32_t TakeFlushedStatus();

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  FetchResponder fetches_;
  size_t writing_bytes_ = 0;
  std::deque<std::shared_ptr<ResponderStep>> steps_;
  uint32_t flushed_status_ = verbs::wc_status::kFlushed;
  LateCompletions late_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_RESPONDER_STEPS_H_
