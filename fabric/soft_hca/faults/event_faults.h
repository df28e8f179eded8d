// EventFaults: events of adapters that come late or never.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_EVENT_FAULTS_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_EVENT_FAULTS_H_

#include <cstdint>
#include <initializer_list>

#include "absl/time/time.h"
#include "fabric/faults/fault_place.h"
#include "fabric/soft_hca/faults/fault_table.h"
#include "fabric/soft_hca/faults/fault_window.h"

namespace ibemu::fabric {

// The events that programs hear of: those of a completion channel, and
// asynchronous ones of the device, its ports and its objects.
enum class EventKind : uint8_t { kCompletion, kAsynchronous };

// An EventFate is what a fault does to an event.
struct EventFate {
  bool lost = false;  // never comes
  absl::Duration delay = absl::ZeroDuration();

  bool operator==(const EventFate&) const = default;
};

// An EventFault is one fault of events.
struct EventFault {
  EventKind kind = EventKind::kCompletion;
  EventFate fate{};
  FaultWindow window{};

  bool operator==(const EventFault&) const = default;
};

// The faults of events of all software adapters.  Of several that concern an
// event, the first acts, and the others do not count it.
class EventFaults : public FaultTable<EventFault> {
 public:
  // Returns what becomes of the next event of this kind at these places.
  EventFate FateOf(std::initializer_list<FaultPlace> places, EventKind kind);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_EVENT_FAULTS_H_
