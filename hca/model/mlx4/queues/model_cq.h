// ModelCq: one completion queue (CQ).
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_CQ_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_CQ_H_

#include <cstdint>
#include <span>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/prm/mlx4_completion.h"

namespace ibemu::hca::model::mlx4 {

// A completion queue, from SW2HW_CQ to HW2SW_CQ.
class ModelCq {
 public:
  enum class Posted { kQuietly, kNotify, kOverrun, kFault };

  ModelCq(Core& core, const prm::CqContext& context);

  static prm::CommandStatus Check(Core& core, const prm::CqContext& context);

  // Gives ownership of all entries to the adapter.  Returns false if the memory
  // can't be written.
  bool Initialise();

  // Writes an entry, after setting its `owner` bit.  Returns kNotify if the
  // queue was armed for such an entry, kOverrun if the queue is full of entries
  // that software has not read, and kFault if the queue or its doorbell record
  // can't be accessed.  After kOverrun or kFault the queue is dead.
  Posted Post(const prm::Cqe& entry, bool solicited);
  Posted Post(const prm::ErrorCqe& entry);

  // Arms the queue for one notification.  Returns true if that is due at once.
  bool Arm(const prm::CqDoorbell& doorbell);

  // MODIFY_CQ: moves the queue to new memory.  Entries that software has not
  // read yet stay in the old memory, and software copies them.  Returns
  // BAD_SIZE if they don't fit into the new memory.
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
  uint32_t producer_ = 0;   // not reduced to the size of the queue
  uint32_t consumer_ = 0;   // 24 bits
  uint32_t solicited_ = 0;  // `producer_` after the last solicited entry
  uint8_t sequence_ = 0;    // of the last notification, 2 bits
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_CQ_H_
