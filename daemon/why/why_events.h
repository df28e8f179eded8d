// WhyEvents: the events "qp", "mad" and "call", each with its cause, at the
// moment in which it happens.
#ifndef IBEMU_DAEMON_WHY_WHY_EVENTS_H_
#define IBEMU_DAEMON_WHY_WHY_EVENTS_H_

#include <cstdint>

#include "daemon/events/fabric_event_log.h"
#include "daemon/why/diagnosis.h"
#include "daemon/why/mad_history.h"
#include "daemon/why/refused_calls.h"
#include "fabric/fabric.h"
#include "fabric/history/queue_pair_history.h"

namespace ibemu::daemon {

// A WhyEvents tells an event log what happens to queue pairs ("qp"), which MADs
// nobody answered ("mad"), and which calls of verbs were refused ("call"), each
// with its cause.  The first work request of a queue pair that fails is an
// event for everybody; the others are details.
class WhyEvents {
 public:
  // All must outlive this.
  WhyEvents(fabric::Fabric& fabric, FabricEventLog& events,
            const Diagnosis& diagnosis, MadHistory& mads, RefusedCalls& calls);
  ~WhyEvents();
  WhyEvents(const WhyEvents&) = delete;
  WhyEvents& operator=(const WhyEvents&) = delete;

 private:
  void OnIncident(topology::NodeId node, uint32_t qpn,
                  const fabric::QueuePairHistory& history,
                  const fabric::Incident& incident);
  void OnFailure(topology::NodeId node, uint32_t qpn,
                 const fabric::QueuePairHistory& history);
  void OnTimeout(topology::NodeId node, const MadHistory::Timeout& timeout);
  void OnRefusal(wire::Guid node_guid, const RefusedCalls::Call& call);

  fabric::Fabric& fabric_;
  FabricEventLog& events_;
  const Diagnosis& diagnosis_;
  MadHistory& mads_;
  RefusedCalls& calls_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_WHY_EVENTS_H_
