// Mlx4QueuePair: a queue pair of an mlx4 adapter.
#ifndef IBEMU_HCA_MLX4_VERBS_MLX4_QUEUE_PAIR_H_
#define IBEMU_HCA_MLX4_VERBS_MLX4_QUEUE_PAIR_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hca/mlx4/core/mlx4_cq.h"
#include "hca/mlx4/verbs/qp_receive_queue.h"
#include "hca/mlx4/verbs/qp_send_queue.h"
#include "hca/mlx4/verbs/queue_pair_core.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

class VerbsProvider;

// A queue pair for which the adapter does the transport, while the driver
// carries messages between its own memory and the client's.  A send is posted
// to the adapter when its data has been fetched; a receive is complete when its
// data has been written to the client's memory.  Work requests end in the order
// in which they were posted.  As far as possible it is the adapter that makes
// them fail, even if a key is wrong.
class Mlx4QueuePair final : public verbs::Qp {
 public:
  // Errors: those of memory, numbers and commands.
  static absl::StatusOr<std::unique_ptr<Mlx4QueuePair>> Create(
      std::shared_ptr<VerbsProvider> provider, const verbs::QpInit& init,
      verbs::ObjectListener& listener);
  ~Mlx4QueuePair() override;
  Mlx4QueuePair(const Mlx4QueuePair&) = delete;
  Mlx4QueuePair& operator=(const Mlx4QueuePair&) = delete;

  uint32_t number() const override { return core_.adapter_qp.number(); }
  verbs::QpCapacity capacity() const override { return core_.init.capacity; }
  // Errors, in addition: Unavailable if the adapter is gone; Internal if its
  // firmware refuses.
  absl::Status Modify(const verbs::QpAttributes& attributes) override;
  verbs::QpAttributes Query() const override;
  absl::Status PostReceive(std::span<verbs::ReceiveRequest> requests,
                           size_t& taken) override {
    return receives_.Post(requests, taken);
  }
  absl::Status PostSend(std::span<verbs::SendRequest> requests,
                        size_t& taken) override {
    return sends_.Post(requests, taken);
  }
  absl::Status AttachMulticast(const verbs::GidBytes& gid,
                               uint16_t lid) override;
  void DetachMulticast(const verbs::GidBytes& gid, uint16_t lid) override;

  // The number of the adapter's completion queue, which is this queue pair's
  // own.
  uint32_t cqn() const { return core_.adapter_qp.completions().number(); }
  // Called when the event that the completion queue asked for has come.
  void OnCompletionEvent();
  // Handles the completions that are there.
  void PollCompletions();

  void OnEvent(verbs::AsyncEventType type);
  // Called when the adapter's completion queue has failed.  Completions will
  // not be heard of any more, so all requests end now.
  void OnCqError();
  // Called when the adapter is gone: all requests end.
  void OnRemoved();
  // Called when the driver goes: releases what this object has of the adapter.
  void OnGone();

 private:
  using State = verbs::QpState;

  Mlx4QueuePair(std::shared_ptr<VerbsProvider> provider,
                const verbs::QpInit& init, verbs::ObjectListener& listener);

  absl::Status Allocate();
  void Forget();
  void StopWaiting();
  void EnterError();
  void Fail();
  void LeaveGroups();
  void OnCompletion(const Completion& completion, uint32_t index);

  QueuePairCore core_;
  QpSendQueue sends_{core_};
  QpReceiveQueue receives_{core_};
  std::set<std::pair<verbs::GidBytes, uint16_t>> groups_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_MLX4_QUEUE_PAIR_H_
