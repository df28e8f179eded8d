// EventFaults: events of adapters that come late or never.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_EVENT_FAULTS_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_EVENT_FAULTS_H_

#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "fabric/soft_hca/faults/fault_window.h"
#include "topology/topology.h"

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

// The key of one fault of events.
struct EventFaultId {
  topology::NodeId node;
  uint32_t number;
};

// The faults of events of all software adapters.  Of several that concern an
// event, the one that was added first acts, and the others do not count it.
class EventFaults {
 public:
  EventFaults() = default;
  EventFaults(const EventFaults&) = delete;
  EventFaults& operator=(const EventFaults&) = delete;

  EventFaultId Add(topology::NodeId node, const EventFault& fault);
  // REQUIRES: the fault was added and not removed.
  void Remove(EventFaultId fault);
  const FaultActs& ActsOf(EventFaultId fault) const;

  bool empty() const { return nodes_.empty(); }
  // Returns what becomes of the next event of this kind.
  EventFate FateOf(topology::NodeId node, EventKind kind);

 private:
  struct Member {
    uint32_t number;
    EventFault fault;
    FaultActs acts;
  };

  absl::flat_hash_map<topology::NodeId, std::vector<Member>> nodes_;
  uint32_t last_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_EVENT_FAULTS_H_
