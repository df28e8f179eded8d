#include "fabric/soft_hca/faults/work_request_faults.h"

#include <algorithm>

namespace ibemu::fabric {

WorkRequestFaultId WorkRequestFaults::Add(topology::NodeId node,
                                          std::optional<uint32_t> qpn,
                                          const WorkRequestFault& fault) {
  nodes_[node].push_back({.number = ++last_,
                          .qpn = qpn,
                          .fault = fault,
                          .end = timers_.Now() + fault.span,
                          .acts = {}});
  return {.node = node, .number = last_};
}

void WorkRequestFaults::Remove(WorkRequestFaultId fault) {
  const auto node = nodes_.find(fault.node);
  std::erase_if(node->second, [&](const Member& member) {
    return member.number == fault.number;
  });
  if (node->second.empty()) nodes_.erase(node);
}

const FaultActs& WorkRequestFaults::ActsOf(WorkRequestFaultId fault) const {
  const std::vector<Member>& members = nodes_.find(fault.node)->second;
  return std::find_if(members.begin(), members.end(),
                      [&](const Member& member) {
                        return member.number == fault.number;
                      })
      ->acts;
}

bool WorkRequestFaults::IsNotReady(topology::NodeId node, uint32_t qpn) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return false;
  for (Member& member : found->second) {
    if (!member.fault.not_ready || member.qpn.value_or(qpn) != qpn ||
        timers_.Now() >= member.end) {
      continue;
    }
    if (member.acts.Count(member.fault.window)) return true;
  }
  return false;
}

CompletionFate WorkRequestFaults::FateOf(topology::NodeId node, uint32_t qpn,
                                         WorkQueue queue) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  for (Member& member : found->second) {
    const WorkRequestFault& fault = member.fault;
    const bool concerns =
        queue == WorkQueue::kSend ? fault.of_sends : fault.of_receives;
    if (fault.not_ready || !concerns || member.qpn.value_or(qpn) != qpn) {
      continue;
    }
    if (member.acts.Count(fault.window)) return fault.completion;
  }
  return {};
}

}  // namespace ibemu::fabric
