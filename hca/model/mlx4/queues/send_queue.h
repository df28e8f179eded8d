// The send queue of a queue pair.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_QUEUE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_QUEUE_H_

#include <cstdint>
#include <optional>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/model/mlx4/queues/send_wqe.h"

namespace ibemu::hca::model::mlx4 {

class SendQueue {
 public:
  enum class Fetched { kWqe, kNone, kMalformed, kFault };

  SendQueue(Core& core, const prm::QpContext& context);

  // Where the queues lie in their common memory: the one with the larger WQEs
  // is first, and it is the send queue when they are equal (hw/mlx4/qp.c).
  static uint64_t ReceiveBytes(const prm::QpContext& context);
  static uint64_t SendBytes(const prm::QpContext& context);
  static bool ReceiveIsFirst(const prm::QpContext& context);
  static QueueBuffer::Place Place(const prm::QpContext& context,
                                  uint64_t offset);

  // The next WQE, if software owns it no longer, and goes on to the one after.
  // kMalformed: `wqe` has its counter and control segment alone.
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

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_SEND_QUEUE_H_
