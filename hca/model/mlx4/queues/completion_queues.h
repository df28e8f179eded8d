// All completion queues.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUES_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUES_H_

#include <cstdint>
#include <map>

#include "hca/model/mlx4/queues/completion_queue.h"
#include "hca/model/mlx4/queues/event_queues.h"

namespace ibemu::hca::model::mlx4 {

class CompletionQueues {
 public:
  CompletionQueues(Core& core, EventQueues& events)
      : core_(core), events_(events) {}

  // SW2HW_CQ, HW2SW_CQ, MODIFY_CQ.  BAD_RES_STATE: it is already, or not, the
  // adapter's; BAD_RESOURCE: its EQ is none; RESOURCE_BUSY: a queue pair uses
  // it.
  prm::CommandStatus Start(uint32_t cqn, const prm::CqContext& context);
  prm::CommandStatus Stop(uint32_t cqn);
  prm::CommandStatus Resize(uint32_t cqn, const prm::CqContext& context);
  prm::CommandStatus Moderate(uint32_t cqn, const prm::CqContext& context);
  // Null: it is not the adapter's.
  const CompletionQueue* Find(uint32_t cqn) const;

  // A queue pair begins or ends to use it.
  void AddUser(uint32_t cqn) { ++users_[cqn]; }
  void RemoveUser(uint32_t cqn) {
    if (--users_[cqn] == 0) users_.erase(cqn);
  }
  bool Uses(uint32_t eqn) const;

  // False: it overran, or can't be written; an event tells.
  bool Post(uint32_t cqn, const prm::Cqe& entry, bool solicited);
  bool Post(uint32_t cqn, const prm::ErrorCqe& entry);

  // From UAR page `page`; one from another page than the CQ's is ignored.
  void Doorbell(uint32_t page, const prm::CqDoorbell& doorbell);

  // How many doorbells were ignored, since power-on.
  int bad_doorbells() const { return bad_doorbells_; }

  void Reset();

 private:
  bool Tell(uint32_t cqn, const CompletionQueue& queue,
            CompletionQueue::Posted posted);

  Core& core_;
  EventQueues& events_;
  std::map<uint32_t, CompletionQueue> queues_;
  std::map<uint32_t, int> users_;
  int bad_doorbells_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUES_H_
