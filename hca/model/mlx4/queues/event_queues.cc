#include "hca/model/mlx4/queues/event_queues.h"

#include <algorithm>

namespace ibemu::hca::model::mlx4 {

using Status = prm::CommandStatus;

Status EventQueues::Start(uint32_t eqn, const prm::EqContext& context) {
  if (const Status status = core_.CheckEq(eqn); status != Status::kOk) {
    return status;
  }
  if (queues_.contains(eqn)) return Status::kBadResourceState;
  if (const Status status = ModelEq::Check(core_, context);
      status != Status::kOk) {
    return status;
  }
  const auto queue = queues_.try_emplace(eqn, core_, context).first;
  if (!queue->second.Initialise()) {
    queues_.erase(queue);
    return Status::kInternalError;
  }
  return Status::kOk;
}

Status EventQueues::Stop(uint32_t eqn) {
  if (const Status status = core_.CheckEq(eqn); status != Status::kOk) {
    return status;
  }
  if (!queues_.contains(eqn)) return Status::kBadResourceState;
  if (std::ranges::find(mapping_, static_cast<int>(eqn)) != mapping_.end()) {
    return Status::kResourceBusy;
  }
  queues_.erase(eqn);
  return Status::kOk;
}

const ModelEq* EventQueues::Find(uint32_t eqn) const {
  const auto queue = queues_.find(eqn);
  return queue == queues_.end() ? nullptr : &queue->second;
}

Status EventQueues::MapEvents(uint32_t eqn, uint64_t mask, bool unmap) {
  if (const Status status = core_.CheckEq(eqn); status != Status::kOk) {
    return status;
  }
  if (!queues_.contains(eqn)) return Status::kBadResourceState;
  for (size_t type = 0; type < mapping_.size(); ++type) {
    if ((mask >> type & 1) == 0) continue;
    if (!unmap) {
      mapping_[type] = static_cast<int>(eqn);
    } else if (mapping_[type] == static_cast<int>(eqn)) {
      mapping_[type] = kUnmapped;
    }
  }
  return Status::kOk;
}

void EventQueues::ReportCompletion(uint32_t eqn, uint32_t cqn) {
  Post(eqn,
       MakeEvent(prm::EqeType::kCompletion, 0, prm::QueueEvent{.number = cqn}));
}

void EventQueues::Post(uint32_t eqn, const prm::Eqe& event) {
  const auto queue = queues_.find(eqn);
  if (queue == queues_.end()) return;
  const ModelEq::Posted posted = queue->second.Post(event);
  if (posted == ModelEq::Posted::kInterrupt) {
    interrupt_(queue->second.vector());
  }
}

void EventQueues::Doorbell(uint32_t eqn, uint32_t consumer_index, bool arm) {
  const auto queue = queues_.find(eqn);
  if (queue == queues_.end() || !queue->second.MayRead(consumer_index)) {
    ++bad_doorbells_;
    return;
  }
  if (queue->second.Doorbell(consumer_index, arm)) {
    interrupt_(queue->second.vector());
  }
}

void EventQueues::Reset() {
  queues_.clear();
  mapping_.fill(kUnmapped);
}

}  // namespace ibemu::hca::model::mlx4
