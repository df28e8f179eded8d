// SharedReceiveQueues: all shared receive queues (SRQ) of the adapter.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_SHARED_RECEIVE_QUEUES_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_SHARED_RECEIVE_QUEUES_H_

#include <cstdint>
#include <map>
#include <optional>

#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/model/mlx4/queues/model_receive_queue.h"

namespace ibemu::hca::model::mlx4 {

// A shared receive queue.  It is a linked list: each WQE names the next one,
// and the doorbell record counts the WQEs that were posted.
class ModelSrq : public ReceiveSource {
 public:
  ModelSrq(Core& core, EventQueues& events, uint32_t number,
           const prm::SrqContext& context);

  Fetched Fetch(ReceiveWqe& wqe) override;

  // ARM_SRQ: asks for one event when fewer WQEs than `limit` are left.
  void Arm(uint16_t limit) { context_.limit_watermark = limit; }
  const prm::SrqContext& context() const { return context_; }

 private:
  Core& core_;
  EventQueues& events_;
  const uint32_t number_;
  prm::SrqContext context_;
  QueueBuffer buffer_;
  EntryCount count_;
  uint16_t next_ = 0;   // index of the next WQE
  uint16_t taken_ = 0;  // not reduced to the queue's size
};

// The shared receive queues by number.  Each one is the adapter's from Start()
// to Stop().
class SharedReceiveQueues {
 public:
  SharedReceiveQueues(Core& core, EventQueues& events)
      : core_(core), events_(events) {}

  // SW2HW_SRQ, HW2SW_SRQ, QUERY_SRQ, ARM_SRQ.  They return BAD_RES_STATE, or
  // nothing, if the adapter already owns the queue (Start) or does not own it
  // (the others), and RESOURCE_BUSY if a queue pair uses it.
  prm::CommandStatus Start(uint32_t srqn, const prm::SrqContext& context);
  prm::CommandStatus Stop(uint32_t srqn);
  std::optional<prm::SrqContext> Query(uint32_t srqn) const;
  prm::CommandStatus Arm(uint32_t srqn, uint16_t limit);

  // Returns null if the adapter does not own the queue.
  ModelSrq* Find(uint32_t srqn);
  void AddUser(uint32_t srqn) { ++users_[srqn]; }
  void RemoveUser(uint32_t srqn) {
    if (--users_[srqn] == 0) users_.erase(srqn);
  }

  void Reset();

 private:
  Core& core_;
  EventQueues& events_;
  std::map<uint32_t, ModelSrq> queues_;
  std::map<uint32_t, int> users_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_SHARED_RECEIVE_QUEUES_H_
