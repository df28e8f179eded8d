// One completion queue.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUE_H_

#include <cstdint>
#include <span>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/prm/mlx4_completion.h"

namespace ibemu::hca::model::mlx4 {

// From SW2HW_CQ to HW2SW_CQ.
class CompletionQueue {
 public:
  enum class Posted { kQuietly, kNotify, kOverrun, kFault };

  CompletionQueue(Core& core, const prm::CqContext& context);

  static prm::CommandStatus Check(Core& core, const prm::CqContext& context);

  // Gives every entry to the adapter.  False: the memory can't be written.
  bool Initialise();

  // Writes an entry, whose `owner` is set here.  kNotify: it was armed for such
  // a one.  kOverrun: software is a whole queue behind; kFault: the queue or
  // its doorbell record can't be reached; the queue is dead after either.
  Posted Post(const prm::Cqe& entry, bool solicited);
  Posted Post(const prm::ErrorCqe& entry);

  // Software asks for one notification.  True: it is due at once.
  bool Arm(const prm::CqDoorbell& doorbell);

  // MODIFY_CQ.  What software has not read yet moves to the new memory;
  // BAD_SIZE: it does not fit.
  prm::CommandStatus Resize(Core& core, const prm::CqContext& context);
  void Moderate(uint16_t max_count, uint16_t period);

  prm::CqContext context() const;
  uint32_t eqn() const { return context_.comp_eqn; }
  uint32_t usr_page() const { return context_.usr_page; }

 private:
  uint32_t size() const { return 1u << context_.log_cq_size; }
  template <class Entry>
  Posted Write(Entry entry, bool solicited);
  bool ReadConsumerIndex();
  bool Notify(bool solicited);

  Core& core_;
  prm::CqContext context_;
  QueueBuffer buffer_;
  EntryCount count_;
  uint32_t producer_ = 0;   // counts on and on
  uint32_t consumer_ = 0;   // 24 bits
  uint32_t solicited_ = 0;  // `producer_` after the last solicited one
  uint8_t sequence_ = 0;    // of notifications, 2 bits
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUE_H_
