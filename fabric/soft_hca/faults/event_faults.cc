#include "fabric/soft_hca/faults/event_faults.h"

#include <algorithm>

namespace ibemu::fabric {

EventFaultId EventFaults::Add(topology::NodeId node, const EventFault& fault) {
  nodes_[node].push_back({.number = ++last_, .fault = fault, .acts = {}});
  return {.node = node, .number = last_};
}

void EventFaults::Remove(EventFaultId fault) {
  const auto node = nodes_.find(fault.node);
  std::erase_if(node->second, [&](const Member& member) {
    return member.number == fault.number;
  });
  if (node->second.empty()) nodes_.erase(node);
}

const FaultActs& EventFaults::ActsOf(EventFaultId fault) const {
  const std::vector<Member>& members = nodes_.find(fault.node)->second;
  return std::find_if(members.begin(), members.end(),
                      [&](const Member& member) {
                        return member.number == fault.number;
                      })
      ->acts;
}

EventFate EventFaults::FateOf(topology::NodeId node, EventKind kind) {
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return {};
  for (Member& member : found->second) {
    if (member.fault.kind != kind) continue;
    if (member.acts.Count(member.fault.window)) return member.fault.fate;
  }
  return {};
}

}  // namespace ibemu::fabric
