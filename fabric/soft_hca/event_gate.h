// EventGate: the place where faults keep events from the programs that listen.
#ifndef IBEMU_FABRIC_SOFT_HCA_EVENT_GATE_H_
#define IBEMU_FABRIC_SOFT_HCA_EVENT_GATE_H_

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <utility>

#include "base/timers.h"
#include "fabric/faults/fault_place.h"
#include "fabric/soft_hca/faults/event_faults.h"
#include "fabric/soft_hca/transport/call_guard.h"
#include "topology/topology.h"
#include "verbs/provider.h"

namespace ibemu::fabric {

// An EventPath is the way of one adapter's events to programs, with the faults
// that they meet there: the adapter's, then those of the process that listens.
struct EventPath {
  EventFaults& faults;
  Timers& timers;
  topology::NodeId node;

  // Calls `tell`: now, later or never.  Nothing wrapped by `guard` is called
  // when that has ended.  `process`: who listens.
  template <class Tell>
  void Pass(EventKind kind, uint64_t process, const CallGuard& guard,
            Tell tell) const {
    PassAt({FaultPlace::OfNode(node), FaultPlace::OfProcess(process)}, kind,
           guard, std::move(tell));
  }
  // The same by the faults of these places.
  template <class Tell>
  void PassAt(std::initializer_list<FaultPlace> places, EventKind kind,
              const CallGuard& guard, Tell tell) const {
    if (faults.empty()) return tell();
    const EventFate fate = faults.FateOf(places, kind);
    if (fate.lost) return;
    if (fate.delay == absl::ZeroDuration()) return tell();
    timers.RunAfter(fate.delay, guard.Wrap(std::move(tell)));
  }
};

// An EventGate hears the events of a queue pair or of a shared receive queue,
// and passes them on.
class EventGate final : public verbs::ObjectListener {
 public:
  // `to` must outlive this object.  `process`: whose it is.
  EventGate(EventPath events, uint64_t process, verbs::ObjectListener& to)
      : events_(events), process_(process), to_(to) {}

  void OnEvent(verbs::AsyncEventType type) override {
    events_.Pass(EventKind::kAsynchronous, process_, guard_,
                 [this, type] { to_.OnEvent(type); });
  }
  void OnNoReceive() override { to_.OnNoReceive(); }

 private:
  const EventPath events_;
  const uint64_t process_;
  verbs::ObjectListener& to_;
  CallGuard guard_;
};

// A CqEventGate does for a completion queue what an EventGate does for a queue
// pair.  Arrivals of completions pass it at once, for they are no events: a
// program that polls finds completions, whatever happens to its events.
class CqEventGate final : public verbs::CqListener {
 public:
  // See EventGate.
  CqEventGate(EventPath events, uint64_t process, verbs::CqListener& to)
      : events_(events), process_(process), to_(to) {}

  void OnEvent(verbs::AsyncEventType type) override {
    events_.Pass(EventKind::kAsynchronous, process_, guard_,
                 [this, type] { to_.OnEvent(type); });
  }
  void OnArrival() override { to_.OnArrival(); }
  void OnCompletion() override {
    events_.Pass(EventKind::kCompletion, process_, guard_,
                 [this] { to_.OnCompletion(); });
  }
  size_t taken() const override { return to_.taken(); }
  void OnDrop() override { to_.OnDrop(); }

 private:
  const EventPath events_;
  const uint64_t process_;
  verbs::CqListener& to_;
  CallGuard guard_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_EVENT_GATE_H_
