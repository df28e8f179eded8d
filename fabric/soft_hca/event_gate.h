// EventGate: where faults keep events from the programs that listen.
#ifndef IBEMU_FABRIC_SOFT_HCA_EVENT_GATE_H_
#define IBEMU_FABRIC_SOFT_HCA_EVENT_GATE_H_

#include "base/timers.h"
#include "fabric/soft_hca/faults/event_faults.h"
#include "fabric/soft_hca/transport/call_guard.h"
#include "topology/topology.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// An EventPath is the way of one adapter's events to programs, with the faults
// that they meet there.
struct EventPath {
  EventFaults& faults;
  Timers& timers;
  topology::NodeId node;

  // Calls `tell`: now, later or never.  Nothing wrapped by `guard` is called
  // when that has ended.
  template <class Tell>
  void Pass(EventKind kind, const CallGuard& guard, Tell tell) const {
    if (faults.empty()) return tell();
    const EventFate fate = faults.FateOf(node, kind);
    if (fate.lost) return;
    if (fate.delay == absl::ZeroDuration()) return tell();
    timers.RunAfter(fate.delay, guard.Wrap(std::move(tell)));
  }
};

// An EventGate hears the events of a queue pair or of a shared receive queue,
// and passes them on.
class EventGate final : public verbs::ObjectListener {
 public:
  // `to` must outlive this object.
  EventGate(EventPath events, verbs::ObjectListener& to)
      : events_(events), to_(to) {}

  void OnEvent(verbs::EventType type) override {
    events_.Pass(EventKind::kAsynchronous, guard_,
                 [this, type] { to_.OnEvent(type); });
  }

 private:
  const EventPath events_;
  verbs::ObjectListener& to_;
  CallGuard guard_;
};

// A CqEventGate is the same of a completion queue.  Arrivals are no events: a
// program that polls finds completions.
class CqEventGate final : public verbs::CqListener {
 public:
  // `to` must outlive this object.
  CqEventGate(EventPath events, verbs::CqListener& to)
      : events_(events), to_(to) {}

  void OnEvent(verbs::EventType type) override {
    events_.Pass(EventKind::kAsynchronous, guard_,
                 [this, type] { to_.OnEvent(type); });
  }
  void OnArrival() override { to_.OnArrival(); }
  void OnCompletion() override {
    events_.Pass(EventKind::kCompletion, guard_,
                 [this] { to_.OnCompletion(); });
  }

 private:
  const EventPath events_;
  verbs::CqListener& to_;
  CallGuard guard_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_EVENT_GATE_H_
