#include "fabric/soft_hca/faults/event_faults.h"

namespace ibemu::fabric {

EventFate EventFaults::FateOf(std::initializer_list<FaultPlace> places,
                              EventKind kind) {
  EventFate fate;
  Find(places, [&](Member& member) {
    if (member.fault.kind != kind) return false;
    if (!member.acts.Count(member.fault.window)) return false;
    fate = member.fault.fate;
    return true;
  });
  return fate;
}

}  // namespace ibemu::fabric
