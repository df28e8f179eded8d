// EventQueues: all event queues of the adapter, and the mapping of events to
// them.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_EVENT_QUEUES_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_EVENT_QUEUES_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>

#include "absl/functional/any_invocable.h"
#include "hca/model/mlx4/queues/model_eq.h"

namespace ibemu::hca::model::mlx4 {

// The event queues by number.  Each one is the adapter's from Start() to
// Stop().
class EventQueues {
 public:
  // `interrupt` is called with an MSI-X vector.
  EventQueues(Core& core, absl::AnyInvocable<void(int vector)> interrupt)
      : core_(core), interrupt_(std::move(interrupt)) {
    mapping_.fill(kUnmapped);
  }

  // SW2HW_EQ, HW2SW_EQ, QUERY_EQ.  Start returns BAD_RES_STATE if the adapter
  // already owns the queue.  Stop returns it if the adapter does not own the
  // queue, and RESOURCE_BUSY if events are still mapped to it; its caller
  // checks that no completion queue reports to it.  Find returns null if the
  // adapter does not own the queue.
  prm::CommandStatus Start(uint32_t eqn, const prm::EqContext& context);
  prm::CommandStatus Stop(uint32_t eqn);
  const ModelEq* Find(uint32_t eqn) const;

  // MAP_EQ: maps the events in `mask` (EventBit()) to `eqn`, or removes that
  // mapping.
  prm::CommandStatus MapEvents(uint32_t eqn, uint64_t mask, bool unmap);

  // Posts an event to the queue that software has mapped it to.  An event that
  // is not mapped is lost.
  template <wire::Structure Data>
  void Report(prm::EqeType type, uint8_t subtype, const Data& data) {
    const int eqn = mapping_[static_cast<size_t>(type)];
    if (eqn != kUnmapped) {
      Post(static_cast<uint32_t>(eqn), MakeEvent(type, subtype, data));
    }
  }
  // Posts the completion event of CQ `cqn`.
  void ReportCompletion(uint32_t eqn, uint32_t cqn);

  // A doorbell of a queue that does not exist, or for events that do not exist
  // yet, is ignored.
  void Doorbell(uint32_t eqn, uint32_t consumer_index, bool arm);
  // The number of doorbells that were ignored since power-on.
  int bad_doorbells() const { return bad_doorbells_; }

  bool Maps(prm::EqeType type) const {
    return mapping_[static_cast<size_t>(type)] != kUnmapped;
  }

  void Reset();

 private:
  static constexpr int kUnmapped = -1;

  template <wire::Structure Data>
  static prm::Eqe MakeEvent(prm::EqeType type, uint8_t subtype,
                            const Data& data) {
    prm::Eqe event{.type = type, .subtype = subtype};
    wire::Encode(data, std::as_writable_bytes(std::span(event.data)));
    return event;
  }
  void Post(uint32_t eqn, const prm::Eqe& event);

  Core& core_;
  absl::AnyInvocable<void(int)> interrupt_;
  std::map<uint32_t, ModelEq> queues_;
  std::array<int, 64> mapping_;  // event type to EQ
  int bad_doorbells_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_EVENT_QUEUES_H_
