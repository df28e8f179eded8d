// FailureEvents: events of work requests that fail.
#ifndef IBEMU_DAEMON_WHY_FAILURE_EVENTS_H_
#define IBEMU_DAEMON_WHY_FAILURE_EVENTS_H_

#include <cstdint>

#include "daemon/events/fabric_event_log.h"
#include "daemon/why/diagnosis.h"
#include "fabric/fabric.h"
#include "fabric/history/queue_pair_history.h"

namespace ibemu::daemon {

// A FailureEvents tells an event log of the first work request of a queue pair
// that fails ("qp"), and why.
class FailureEvents {
 public:
  // All must outlive this.
  FailureEvents(fabric::Fabric& fabric, FabricEventLog& events,
                const Diagnosis& diagnosis);
  ~FailureEvents();
  FailureEvents(const FailureEvents&) = delete;
  FailureEvents& operator=(const FailureEvents&) = delete;

 private:
  void OnFailure(topology::NodeId node, uint32_t qpn,
                 const fabric::QueuePairHistory& history);

  fabric::Fabric& fabric_;
  FabricEventLog& events_;
  const Diagnosis& diagnosis_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_FAILURE_EVENTS_H_
