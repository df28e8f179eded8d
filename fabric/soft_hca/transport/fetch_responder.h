// FetchResponder: the responses to RDMA READs and atomic operations.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_RESPONDER_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_RESPONDER_H_

#include <cstdint>
#include <deque>
#include <memory>

#include "absl/status/statusor.h"
#include "fabric/packet/transport.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "fabric/soft_hca/transport/responder_step.h"
#include "verbs/memory.h"
#include "verbs/parts/key_table.h"

namespace ibemu::fabric {

// The part of a responder that executes RDMA READs and atomic operations, whose
// responses carry data (IBA vol 1 §9.4.4, §9.4.5 and §9.7.5.1).
class FetchResponder {
 public:
  class Listener {
   public:
    // Called when a step may continue that had to wait for memory.
    virtual void OnStepReady() = 0;

   protected:
    ~Listener() = default;
  };

  FetchResponder(QueuePairLink& link, Listener& listener)
      : link_(link), qp_(link.qp()), listener_(listener) {}
  FetchResponder(const FetchResponder&) = delete;
  FetchResponder& operator=(const FetchResponder&) = delete;

  // Continues a step, which has `fetch`.  Returns true when its response has
  // been sent, and false if it has to wait.
  bool Continue(const std::shared_ptr<ResponderStep>& step);

  // Forgets the results of atomic operations.
  void Reset() { results_.clear(); }

 private:
  // The original value of an atomic operation, kept in case its response is
  // lost.
  struct AtomicResult {
    uint32_t psn;
    uint64_t original;
  };

  bool ContinueRead(const std::shared_ptr<ResponderStep>& step);
  bool ContinueAtomic(const std::shared_ptr<ResponderStep>& step);
  void RepeatAtomic(const ResponderStep& step);
  void OnAtomicDone(ResponderStep& step,
                    const absl::StatusOr<uint64_t>& original);
  absl::StatusOr<verbs::MemoryRange> TargetOf(const Transport& request) const;
  void SendReadResponses(ResponderStep& step, const verbs::Buffer& buffer);
  void SendAtomicResponse(uint32_t psn, uint64_t original);

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  Listener& listener_;
  std::deque<AtomicResult> results_;  // the latest ones, oldest first
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_FETCH_RESPONDER_H_
