// Where a queue pair gets its receive WQEs from.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_RECEIVE_QUEUE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_RECEIVE_QUEUE_H_

#include <cstdint>
#include <vector>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/model/mlx4/queues/scatter_gather.h"
#include "hca/prm/mlx4_qp.h"

namespace ibemu::hca::model::mlx4 {

struct ReceiveWqe {
  uint16_t counter = 0;  // for the CQE
  std::vector<Sge> sges;
};

class ReceiveSource {
 public:
  enum class Fetched { kWqe, kNone, kFault };

  virtual ~ReceiveSource() = default;
  // kNone: software has posted none; kFault: queue or doorbell record can't be
  // read.
  virtual Fetched Fetch(ReceiveWqe& wqe) = 0;
};

// A queue pair's own: a ring, whose doorbell record counts what was posted.
class ReceiveQueue : public ReceiveSource {
 public:
  ReceiveQueue(Core& core, const prm::QpContext& context);

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

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_RECEIVE_QUEUE_H_
