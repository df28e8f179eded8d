// CompletionQueues: all completion queues of the adapter.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUES_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUES_H_

#include <cstdint>
#include <map>

#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/model/mlx4/queues/model_cq.h"

namespace ibemu::hca::model::mlx4 {

// The completion queues by number.  Each one is the adapter's from Start() to
// Stop().
class CompletionQueues {
 public:
  CompletionQueues(Core& core, EventQueues& events)
      : core_(core), events_(events) {}

  // SW2HW_CQ, HW2SW_CQ, MODIFY_CQ.  They return BAD_RES_STATE if the adapter
  // already owns the queue (Start) or does not own it (the others),
  // BAD_RESOURCE if its EQ does not exist, and RESOURCE_BUSY if a queue pair
  // uses it.
  prm::CommandStatus Start(uint32_t cqn, const prm::CqContext& context);
  prm::CommandStatus Stop(uint32_t cqn);
  prm::CommandStatus Resize(uint32_t cqn, const prm::CqContext& context);
  prm::CommandStatus Moderate(uint32_t cqn, const prm::CqContext& context);
  // Returns null if the adapter does not own the queue.
  const ModelCq* Find(uint32_t cqn) const;

  // Count the queue pairs that use CQ `cqn`.
  void AddUser(uint32_t cqn) { ++users_[cqn]; }
  void RemoveUser(uint32_t cqn) {
    if (--users_[cqn] == 0) users_.erase(cqn);
  }
  // Returns true if a completion queue reports to EQ `eqn`.
  bool Uses(uint32_t eqn) const;

  // Return false if the queue overran or can't be written; an event reports
  // that to software.
  bool Post(uint32_t cqn, const prm::Cqe& entry, bool solicited);
  bool Post(uint32_t cqn, const prm::ErrorCqe& entry);

  // A doorbell that came from UAR page `page`.  It is ignored unless this is
  // the page of the CQ.
  void Doorbell(uint32_t page, const prm::CqDoorbell& doorbell);

  // The number of doorbells that were ignored since power-on.
  int bad_doorbells() const { return bad_doorbells_; }

  void Reset();

 private:
  bool Tell(uint32_t cqn, const ModelCq& queue, ModelCq::Posted posted);

  Core& core_;
  EventQueues& events_;
  std::map<uint32_t, ModelCq> queues_;
  std::map<uint32_t, int> users_;
  int bad_doorbells_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_COMPLETION_QUEUES_H_
