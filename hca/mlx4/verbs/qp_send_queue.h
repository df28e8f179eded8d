// QpSendQueue: the send queue of a queue pair, from the client's memory to the
// adapter.
#ifndef IBEMU_HCA_MLX4_VERBS_QP_SEND_QUEUE_H_
#define IBEMU_HCA_MLX4_VERBS_QP_SEND_QUEUE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <span>

#include "absl/status/status.h"
#include "hca/mlx4/core/mlx4_cq.h"
#include "hca/mlx4/verbs/dma_pool.h"
#include "hca/mlx4/verbs/queue_pair_core.h"
#include "hca/prm/mlx4_wqe.h"
#include "verbs/provider.h"

namespace ibemu::hca::mlx4 {

// The send requests of a queue pair, in the order in which they were posted and
// end.  The data of a request is fetched to the driver's memory, then the
// request is posted to the adapter; what an RDMA READ or an atomic operation
// returns goes back to the client's memory before the request ends.
class QpSendQueue {
 public:
  // `core` must outlive this object.
  explicit QpSendQueue(QueuePairCore& core) : core_(core) {}
  QpSendQueue(const QpSendQueue&) = delete;
  QpSendQueue& operator=(const QpSendQueue&) = delete;

  // Gets the share of the memory for sends that belongs to `process`.
  //
  // Errors: ResourceExhausted.
  absl::Status TakeShare(uint64_t process);

  // verbs::Qp::PostSend().
  absl::Status Post(std::span<verbs::SendRequest> requests, size_t& taken);

  // Fetches the sends that may be fetched now, and posts those that are ready.
  void Pump();

  // Handles the completion of the oldest send that the adapter has.
  void OnCompletion(const Completion& completion);

  // Flushes the sends that were not posted, after those that the adapter
  // flushes; only if sends are stopped.
  void FlushUnposted();
  // Flushes all sends.
  void Flush();

  // Forgets all sends.
  void Clear();
  // Cancels the waiting for memory.
  void StopWaiting();

 private:
  // The largest number of sends that are fetched ahead of the adapter.
  static constexpr size_t kMaxFetching = 16;

  // A send request on its way.
  struct Send {
    verbs::SendRequest request;
    uint64_t entry = 0;               // of the send queue
    std::optional<prm::Mlx4Av> to{};  // only of a datagram
    size_t length = 0;
    std::unique_ptr<DmaPool::Buffer> memory{};
    bool ready = false;        // can be posted
    bool arriving = false;     // returned data is on its way to the client
    bool complete = false;     // ends once those before it have
    uint32_t status = 0;       // wc_status, once known
    uint8_t vendor_error = 0;  // what the adapter said of a failure
  };

  bool Begin(const std::shared_ptr<Send>& send);
  bool Fetch(const std::shared_ptr<Send>& send);
  void PostReady();
  void PutDown(const std::shared_ptr<Send>& send);
  void Complete();
  bool AwaitsAnswers() const;
  size_t LongestSend() const;

  QueuePairCore& core_;
  std::shared_ptr<DmaPool::Share> share_;
  // The first `sent_` sends are done by the adapter, and wait for the client's
  // memory or for those before them; those up to `posted_` are the adapter's;
  // those up to `begun_` are being fetched.
  std::deque<std::shared_ptr<Send>> sends_;
  size_t sent_ = 0, posted_ = 0, begun_ = 0;
  bool waits_ = false;  // waits for memory of the driver
};

}  // namespace ibemu::hca::mlx4

#endif  // IBEMU_HCA_MLX4_VERBS_QP_SEND_QUEUE_H_
