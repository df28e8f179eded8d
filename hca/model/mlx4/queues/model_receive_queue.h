// ReceiveSource: the queue that a queue pair fetches its receive WQEs from.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_RECEIVE_QUEUE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_RECEIVE_QUEUE_H_

#include <cstdint>
#include <vector>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/model/mlx4/queues/scatter_gather.h"
#include "hca/prm/mlx4_qp.h"

namespace ibemu::hca::model::mlx4 {

// A receive WQE.  `sges` is its SGE list.
struct ReceiveWqe {
  uint16_t counter = 0;  // for the CQE
  std::vector<Sge> sges;
};

// A receive queue, a queue pair's own or a shared one.
class ReceiveSource {
 public:
  enum class Fetched { kWqe, kNone, kFault };

  virtual ~ReceiveSource() = default;
  // Fetches the next WQE.  Returns kNone if software has posted none, and
  // kFault if the queue or its doorbell record can't be read.
  virtual Fetched Fetch(ReceiveWqe& wqe) = 0;
};

// A queue pair's own receive queue: a ring, whose doorbell record counts the
// WQEs that were posted.
class ModelReceiveQueue : public ReceiveSource {
 public:
  ModelReceiveQueue(Core& core, const prm::QpContext& context);

  Fetched Fetch(ReceiveWqe& wqe) override;
  uint16_t counter() const { return counter_; }

 private:
  Core& core_;
  QueueBuffer buffer_;
  const uint64_t record_;
  const int log_size_;
  const size_t stride_;
  uint16_t counter_ = 0;
  EntryCount count_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_RECEIVE_QUEUE_H_
