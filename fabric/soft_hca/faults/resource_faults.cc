#include "fabric/soft_hca/faults/resource_faults.h"

namespace ibemu::fabric {
namespace {

bool IsDelay(const ResourceFault& fault) {
  return fault.delay != absl::ZeroDuration();
}

}  // namespace

absl::Status ResourceFaults::Check(topology::NodeId node, ResourceCall call) {
  absl::Status status;
  for (Member& member : Of(node)) {
    if (member.fault.call != call || IsDelay(member.fault)) continue;
    if (member.acts.Count(member.fault.window)) {
      status.Update(absl::Status(member.fault.error, "a fault was asked for"));
    }
  }
  return status;
}

absl::Duration ResourceFaults::DelayOf(topology::NodeId node,
                                       ResourceCall call) {
  absl::Duration delay;
  for (Member& member : Of(node)) {
    if (member.fault.call != call || !IsDelay(member.fault)) continue;
    if (member.acts.Count(member.fault.window)) delay += member.fault.delay;
  }
  return delay;
}

}  // namespace ibemu::fabric
