#include "fabric/soft_hca/faults/resource_faults.h"

#include <algorithm>

namespace ibemu::fabric {

ResourceFaultId ResourceFaults::Add(topology::NodeId node,
                                    const ResourceFault& fault) {
  nodes_[node].push_back({.number = ++last_, .fault = fault, .acts = {}});
  return {.node = node, .number = last_};
}

void ResourceFaults::Remove(ResourceFaultId fault) {
  const auto node = nodes_.find(fault.node);
  std::erase_if(node->second, [&](const Member& member) {
    return member.number == fault.number;
  });
  if (node->second.empty()) nodes_.erase(node);
}

const FaultActs& ResourceFaults::ActsOf(ResourceFaultId fault) const {
  const std::vector<Member>& members = nodes_.find(fault.node)->second;
  return std::find_if(members.begin(), members.end(),
                      [&](const Member& member) {
                        return member.number == fault.number;
                      })
      ->acts;
}

absl::Status ResourceFaults::Check(topology::NodeId node, ResourceCall call) {
  const auto found = nodes_.find(node);
  absl::Status status;
  if (found == nodes_.end()) return status;
  for (Member& member : found->second) {
    const bool fails = member.fault.delay == absl::ZeroDuration();
    if (member.fault.call != call || !fails) continue;
    if (member.acts.Count(member.fault.window)) {
      status.Update(absl::Status(member.fault.error, "a fault was asked for"));
    }
  }
  return status;
}

absl::Duration ResourceFaults::DelayOf(topology::NodeId node,
                                       ResourceCall call) {
  absl::Duration delay;
  const auto found = nodes_.find(node);
  if (found == nodes_.end()) return delay;
  for (Member& member : found->second) {
    const bool fails = member.fault.delay == absl::ZeroDuration();
    if (member.fault.call != call || fails) continue;
    if (member.acts.Count(member.fault.window)) delay += member.fault.delay;
  }
  return delay;
}

}  // namespace ibemu::fabric
