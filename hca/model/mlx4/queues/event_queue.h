// One event queue.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_EVENT_QUEUE_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_EVENT_QUEUE_H_

#include <cstdint>

#include "hca/model/mlx4/core/queue_buffer.h"
#include "hca/prm/mlx4_events.h"

namespace ibemu::hca::model::mlx4 {

// From SW2HW_EQ to HW2SW_EQ.
class EventQueue {
 public:
  enum class Posted { kQuietly, kInterrupt, kOverrun, kFault };

  EventQueue(Core& core, const prm::EqContext& context);

  // Whether the context makes sense and its memory is translated.
  static prm::CommandStatus Check(Core& core, const prm::EqContext& context);

  // Gives every entry to the adapter, as the hardware does.  False: the memory
  // can't be written.
  bool Initialise();

  // Writes an event, whose `owner` is set here.  kInterrupt: it was armed, and
  // is no longer.  kOverrun: software is a whole queue behind; kFault: memory
  // could not be written; the queue is dead after either.
  Posted Post(prm::Eqe event);

  // Whether software may have read up to `consumer_index` (24 bits): not less
  // than before, and nothing that there is not yet.
  bool MayRead(uint32_t consumer_index) const;
  // Software has.  True: it arms, and there is more already, so an interrupt is
  // due.
  bool Doorbell(uint32_t consumer_index, bool arm);

  // As QUERY_EQ shows it.
  prm::EqContext context() const;
  int vector() const { return context_.intr; }
  bool dead() const { return context_.status != prm::kQueueOk; }

 private:
  uint32_t size() const { return 1u << context_.log_eq_size; }

  prm::EqContext context_;
  QueueBuffer buffer_;
  EntryCount count_;
  uint32_t producer_ = 0;  // counts on and on, as `consumer_` does
  uint32_t consumer_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_EVENT_QUEUE_H_
