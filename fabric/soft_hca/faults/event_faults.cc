#include "fabric/soft_hca/faults/event_faults.h"

namespace ibemu::fabric {

EventFate EventFaults::FateOf(topology::NodeId node, EventKind kind) {
  for (Member& member : Of(node)) {
    if (member.fault.kind != kind) continue;
    if (member.acts.Count(member.fault.window)) return member.fault.fate;
  }
  return {};
}

}  // namespace ibemu::fabric
