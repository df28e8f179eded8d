// ModelEq: one event queue (EQ).
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_EQ_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_EQ_H_

#include <cstdint>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::model::mlx4 {

// An event queue, from SW2HW_EQ to HW2SW_EQ.
class ModelEq {
 public:
  enum class Posted { kQuietly, kInterrupt, kOverrun, kFault };

  ModelEq(Core& core, const prm::EqContext& context);

  // Checks that the context is valid and that its memory can be translated.
  static prm::CommandStatus Check(Core& core, const prm::EqContext& context);

  // Gives ownership of all entries to the adapter, as the hardware does.
  // Returns false if the memory can't be written.
  bool Initialise();

  // Writes an event, after setting its `owner` bit.  Returns kInterrupt if the
  // queue was armed, which it no longer is (unless always armed); kOverrun if
  // the queue is full of events that software has not read; kFault if memory
  // can't be written.  After kOverrun or kFault the queue is dead.
  Posted Post(prm::Eqe event);

  // Returns true if software may have read up to `consumer_index` (24 bits): it
  // is not behind the previous index, nor ahead of the events written.
  bool MayRead(uint32_t consumer_index) const;
  // Software has read up to `consumer_index`.  Returns true if it arms the
  // queue and there are further events, so that an interrupt is due.
  bool Doorbell(uint32_t consumer_index, bool arm);

  // The context as QUERY_EQ returns it.
  prm::EqContext context() const;
  int vector() const { return context_.intr; }
  bool dead() const { return context_.status != prm::kQueueOk; }

 private:
  uint32_t size() const { return 1u << context_.log_eq_size; }

  prm::EqContext context_;
  QueueBuffer buffer_;
  EntryCount count_;
  uint32_t producer_ = 0;  // like `consumer_`, not reduced to the queue's size
  uint32_t consumer_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_MODEL_EQ_H_
