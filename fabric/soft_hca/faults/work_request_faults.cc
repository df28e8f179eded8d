#include "fabric/soft_hca/faults/work_request_faults.h"

namespace ibemu::fabric {

AdapterFaultId WorkRequestFaults::Add(FaultPlace place,
                                      std::optional<uint32_t> qpn,
                                      const WorkRequestFault& fault) {
  return table_.Add(
      place, {.what = fault, .qpn = qpn, .end = timers_.Now() + fault.span});
}

std::optional<std::string> WorkRequestFaults::NotReadyBy(topology::NodeId node,
                                                         uint64_t process,
                                                         uint32_t qpn) {
  std::optional<std::string> name;
  table_.Find({FaultPlace::OfNode(node), FaultPlace::OfProcess(process)},
              [&](FaultTable<Placed>::Member& member) {
                const Placed& fault = member.fault;
                if (!fault.what.not_ready || fault.qpn.value_or(qpn) != qpn ||
                    timers_.Now() >= fault.end) {
                  return false;
                }
                if (!member.acts.Count(fault.what.window)) return false;
                name = fault.what.name;
                return true;
              });
  return name;
}

CompletionFate WorkRequestFaults::FateOf(topology::NodeId node,
                                         uint64_t process, uint32_t qpn,
                                         WorkQueue queue) {
  CompletionFate fate;
  table_.Find(
      {FaultPlace::OfNode(node), FaultPlace::OfProcess(process)},
      [&](FaultTable<Placed>::Member& member) {
        const Placed& fault = member.fault;
        const WorkRequestFault& what = fault.what;
        const bool concerns =
            queue == WorkQueue::kSend ? what.of_sends : what.of_receives;
        if (what.not_ready || !concerns || fault.qpn.value_or(qpn) != qpn ||
            !member.acts.Count(what.window)) {
          return false;
        }
        fate = what.completion;
        fate.fault = what.name;
        return true;
      });
  return fate;
}

}  // namespace ibemu::fabric
