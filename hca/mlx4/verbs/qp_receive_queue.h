// QpReceiveQueue: the receive side of a queue pair, from the adapter to the
// client's memory.
#ifndef IBEMU_HCA_MLX4_VERBS_QP_RECEIVE_QUEUE_H_
#define IBEMU_HCA_MLX4_VERBS_QP_RECEIVE_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <span>

#include "absl/status/status.h"
#include "hca/mlx4/core/mlx4_cq.h"
#include "hca/mlx4/verbs/dma_pool.h"
#include "hca/mlx4/verbs/posted_receive.h"
#include "hca/mlx4/verbs/queue_pair_core.h"
#include "hca/prm/mlx4_completion.h"
#include "verbs/parts/receive_queue.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// The receive requests of a queue pair without a shared receive queue, and the
// messages that arrive at any.  A message is complete when its data has been
// written to the client's memory; messages end in the order in which they came.
class QpReceiveQueue {
 public:
  // `core` must outlive this object.
  explicit QpReceiveQueue(QueuePairCore& core);
  QpReceiveQueue(const QpReceiveQueue&) = delete;
  QpReceiveQueue& operator=(const QpReceiveQueue&) = delete;

  // Gets the share of the memory for receives that belongs to `process`.  With
  // a shared receive queue there is none.
  //
  // Errors: ResourceExhausted.
  absl::Status TakeShare(uint64_t process);

  // verbs::Qp::PostReceive().
  absl::Status Post(std::span<verbs::ReceiveRequest> requests, size_t& taken);

  // Posts the requests for which there is memory.
  void Pump();

  // Handles the completion of a receive, number `index` of its queue.
  void OnCompletion(const Completion& completion, uint32_t index);

  // In the error state: flushes the requests that the adapter does not flush.
  void Flush();
  // Ends the messages whose data is on its way to the client, as flushed.
  void FlushArrivals();

  // The queue pair takes no more requests from its shared receive queue: tells
  // the client, when those that it took are complete.
  void TellOfLastRequest();

  // Forgets all requests and messages.
  void Clear();
  // Cancels the waiting for memory.
  void StopWaiting();

 private:
  // A receive that has ended at the adapter, until its data is in the client's
  // memory.
  struct Arrival {
    verbs::WorkCompletion completion;
    std::unique_ptr<DmaPool::Buffer> memory{};  // still counted as the client's
    uint32_t index = 0;  // of the adapter's completion, if there was one
    bool done = false;
    bool fails = false;  // the queue pair must fail; the adapter does not know
  };

  verbs::WorkCompletion Describe(const prm::Cqe& entry, uint64_t id) const;
  void PutDown(PostedReceive receive, const std::shared_ptr<Arrival>& arrival);
  void Complete();

  QueuePairCore& core_;
  std::shared_ptr<DmaPool::Share> share_;  // null with an SRQ
  verbs::ReceiveQueue pending_;            // not yet given to the adapter
  std::deque<PostedReceive> posted_;
  bool waits_ = false;  // waits for memory of the driver
  bool tells_of_last_ = false;
  std::deque<std::shared_ptr<Arrival>> arrivals_;
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_QP_RECEIVE_QUEUE_H_
