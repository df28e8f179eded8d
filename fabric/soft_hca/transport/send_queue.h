// SendQueue: the work requests that a queue pair sends.
#ifndef IBEMU_FABRIC_SOFT_HCA_TRANSPORT_SEND_QUEUE_H_
#define IBEMU_FABRIC_SOFT_HCA_TRANSPORT_SEND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "fabric/soft_hca/faults/late_completions.h"
#include "fabric/soft_hca/transport/posted_send.h"
#include "fabric/soft_hca/transport/queue_pair_link.h"
#include "verbs/parts/send_queue_entries.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// The send queue.  Work requests leave it one after the other, and complete in
// the same order.  The first ones have left and wait for their completion; then
// comes the current one.
class SendQueue {
 public:
  explicit SendQueue(QueuePairLink& link)
      : link_(link),
        qp_(link.qp()),
        entries_(qp_.init.capacity.send_requests),
        late_(qp_.timers) {}
  SendQueue(const SendQueue&) = delete;
  SendQueue& operator=(const SendQueue&) = delete;

  // Adds work requests, see verbs::Qp::PostSend().
  absl::Status Post(std::span<verbs::SendRequest> requests, size_t& taken);

  // See verbs::Qp::MakeRoom().
  void MakeRoom(size_t requests) { entries_.MakeRoom(requests); }

  size_t size() const { return entries_.size(); }
  // Returns the number of places that are free.
  size_t free() const { return entries_.free(); }
  // Returns the number of places that are taken up.
  size_t taken() const { return entries_.taken(); }
  // Returns true if a request was signaled since the last reset.
  bool signaled() const { return qp_.init.signal_all || signaled_ != 0; }
  // Returns the number of requests whose packets have left and that are not
  // complete.
  size_t outstanding() const { return left_; }

  // Returns the work request whose packets leave now.  REQUIRES: HasCurrent().
  bool HasCurrent() const { return left_ < sends_.size(); }
  PostedSend& current() { return *sends_[left_]; }
  const PostedSend& current() const { return *sends_[left_]; }
  // All packets of the current one have left.
  void Advance() { ++left_; }

  // Returns the oldest one; null: there is none.
  const PostedSend* oldest() const {
    return sends_.empty() ? nullptr : sends_.front().get();
  }
  // Returns the oldest one that has started and has not ended before `psn`, or
  // null.
  PostedSend* FindFrom(uint32_t psn);
  // Completes those that have left, except for RDMA READs and atomic
  // operations, which are complete when their data is in memory.  `oldest` is
  // the first PSN in flight, if there is one.
  void CompleteBefore(std::optional<uint32_t> oldest);

  // Completes the oldest ones that are complete, or reports that the oldest has
  // failed.
  void Complete();
  // Completes the oldest one with the error `status`.  The queue pair is in an
  // error state then, in which all others are flushed.
  void FailOldest(uint32_t status, uint32_t vendor_err = 0);
  // Completes `send` with an error once those before it are complete.
  void Fail(PostedSend& send, uint32_t status);

  // The queue pair is in error: completes all with kFlushed.
  void Flush();
  void Reset();

 private:
  // Says in the history that a fault is the reason.
  void NoteFault(const PostedSend& send, const CompletionFate& fate);
  void PushSuccess(const PostedSend& send, const CompletionFate& fate);
  void PushFailure(const PostedSend& send, uint32_t status,
                   uint32_t vendor_err);
  void Push(verbs::WorkCompletion completion, uint64_t entry,
            absl::Duration delay);
  void PushNow(const verbs::WorkCompletion& completion, uint64_t entry);

  QueuePairLink& link_;
  const QueuePairContext& qp_;
  verbs::SendQueueEntries entries_;
  std::deque<std::unique_ptr<PostedSend>> sends_;
  size_t left_ = 0;  // the number of those that have left
  // Of those posted: not 0 if one of them asked for a completion.
  uint32_t signaled_ = 0;
  LateCompletions late_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_TRANSPORT_SEND_QUEUE_H_
