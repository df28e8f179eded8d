#include "fabric/soft_hca/faults/work_request_faults.h"

namespace ibemu::fabric {

AdapterFaultId WorkRequestFaults::Add(topology::NodeId node,
                                      std::optional<uint32_t> qpn,
                                      const WorkRequestFault& fault) {
  return table_.Add(
      node, {.what = fault, .qpn = qpn, .end = timers_.Now() + fault.span});
}

bool WorkRequestFaults::IsNotReady(topology::NodeId node, uint32_t qpn) {
  for (auto& [number, fault, acts] : table_.Of(node)) {
    if (!fault.what.not_ready || fault.qpn.value_or(qpn) != qpn ||
        timers_.Now() >= fault.end) {
      continue;
    }
    if (acts.Count(fault.what.window)) return true;
  }
  return false;
}

CompletionFate WorkRequestFaults::FateOf(topology::NodeId node, uint32_t qpn,
                                         WorkQueue queue) {
  for (auto& [number, fault, acts] : table_.Of(node)) {
    const WorkRequestFault& what = fault.what;
    const bool concerns =
        queue == WorkQueue::kSend ? what.of_sends : what.of_receives;
    if (what.not_ready || !concerns || fault.qpn.value_or(qpn) != qpn) continue;
    if (acts.Count(what.window)) return what.completion;
  }
  return {};
}

}  // namespace ibemu::fabric
