// ModelSendQueue: the send queue of a queue pair.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_SEND_QUEUE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_SEND_QUEUE_H_

#include <cstdint>
#include <optional>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/model/mlx4/queues/send_wqe.h"

namespace ibemu::hca::model::mlx4 {

// A ring of send WQEs.  Software hands each one over by its owner bit.
class ModelSendQueue {
 public:
  enum class Fetched { kWqe, kNone, kMalformed, kFault };

  ModelSendQueue(Core& core, const prm::QpContext& context);

  // The layout of a queue pair's two queues in their common memory.  The one
  // with the larger WQEs comes first; if they are equal, it is the send queue
  // (hw/mlx4/qp.c).
  static uint64_t ReceiveBytes(const prm::QpContext& context);
  static uint64_t SendBytes(const prm::QpContext& context);
  static bool ReceiveIsFirst(const prm::QpContext& context);
  static QueueBuffer::Place Place(const prm::QpContext& context,
                                  uint64_t offset);

  // Fetches the next WQE, if software has handed it over.  With kMalformed only
  // the counter and the control segment of `wqe` are valid.
  Fetched Fetch(SendWqe& wqe);

  uint16_t counter() const { return counter_; }

 private:
  QueueBuffer buffer_;
  const prm::QpService service_;
  const int log_size_;
  const size_t stride_;
  uint16_t counter_ = 0;
  EntryCount count_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_SEND_QUEUE_H_
