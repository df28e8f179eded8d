#include "hca/model/mlx4/queues/completion_queues.h"

#include <algorithm>

namespace ibemu::hca::model::mlx4 {

using Status = prm::CommandStatus;

Status CompletionQueues::Start(uint32_t cqn, const prm::CqContext& context) {
  if (const Status status = core_.CheckCq(cqn); status != Status::kOk) {
    return status;
  }
  if (queues_.contains(cqn)) return Status::kBadResourceState;
  if (events_.Find(context.comp_eqn) == nullptr) return Status::kBadResource;
  if (const Status status = ModelCq::Check(core_, context);
      status != Status::kOk) {
    return status;
  }
  const auto queue = queues_.try_emplace(cqn, core_, context).first;
  if (!queue->second.Initialise()) {
    queues_.erase(queue);
    return Status::kInternalError;
  }
  return Status::kOk;
}

Status CompletionQueues::Stop(uint32_t cqn) {
  if (const Status status = core_.CheckCq(cqn); status != Status::kOk) {
    return status;
  }
  if (!queues_.contains(cqn)) return Status::kBadResourceState;
  if (users_.contains(cqn)) return Status::kResourceBusy;
  queues_.erase(cqn);
  return Status::kOk;
}

Status CompletionQueues::Resize(uint32_t cqn, const prm::CqContext& context) {
  const auto queue = queues_.find(cqn);
  if (queue == queues_.end()) return Status::kBadResourceState;
  return queue->second.Resize(core_, context);
}

Status CompletionQueues::Moderate(uint32_t cqn, const prm::CqContext& context) {
  const auto queue = queues_.find(cqn);
  if (queue == queues_.end()) return Status::kBadResourceState;
  queue->second.Moderate(context.cq_max_count, context.cq_period);
  return Status::kOk;
}

const ModelCq* CompletionQueues::Find(uint32_t cqn) const {
  const auto queue = queues_.find(cqn);
  return queue == queues_.end() ? nullptr : &queue->second;
}

bool CompletionQueues::Uses(uint32_t eqn) const {
  return std::ranges::any_of(
      queues_, [eqn](const auto& queue) { return queue.second.eqn() == eqn; });
}

bool CompletionQueues::Post(uint32_t cqn, const prm::Cqe& entry,
                            bool solicited) {
  const auto queue = queues_.find(cqn);
  return queue != queues_.end() &&
         Tell(cqn, queue->second, queue->second.Post(entry, solicited));
}

bool CompletionQueues::Post(uint32_t cqn, const prm::ErrorCqe& entry) {
  const auto queue = queues_.find(cqn);
  return queue != queues_.end() &&
         Tell(cqn, queue->second, queue->second.Post(entry));
}

bool CompletionQueues::Tell(uint32_t cqn, const ModelCq& queue,
                            ModelCq::Posted posted) {
  using Posted = ModelCq::Posted;
  switch (posted) {
    case Posted::kQuietly:
      return true;
    case Posted::kNotify:
      events_.ReportCompletion(queue.eqn(), cqn);
      return true;
    case Posted::kOverrun:
    case Posted::kFault:
      events_.Report(
          prm::EqeType::kCqError, 0,
          prm::QueueEvent{.number = cqn,
                          .syndrome = posted == Posted::kOverrun
                                          ? prm::kCqOverrun
                                          : prm::kCqAccessViolation});
      return false;
  }
  return false;
}

void CompletionQueues::Doorbell(uint32_t page,
                                const prm::CqDoorbell& doorbell) {
  const auto queue = queues_.find(doorbell.cqn);
  if (queue == queues_.end() || queue->second.usr_page() != page) {
    ++bad_doorbells_;
    return;
  }
  if (queue->second.Arm(doorbell)) {
    events_.ReportCompletion(queue->second.eqn(), doorbell.cqn);
  }
}

void CompletionQueues::Reset() {
  queues_.clear();
  users_.clear();
}

}  // namespace ibemu::hca::model::mlx4
