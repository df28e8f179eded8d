#include "fabric/soft_hca/faults/resource_faults.h"

#include "absl/strings/str_cat.h"

namespace ibemu::fabric {
namespace {

bool IsDelay(const ResourceFault& fault) {
  return fault.delay != absl::ZeroDuration();
}

}  // namespace

absl::Status ResourceFaults::Check(topology::NodeId node, uint64_t process,
                                   ResourceCall call) {
  absl::Status status;
  Find({FaultPlace::OfNode(node), FaultPlace::OfProcess(process)},
       [&](Member& member) {
         if (member.fault.call != call || IsDelay(member.fault)) return false;
         if (member.acts.Count(member.fault.window)) {
           status.Update(
               absl::Status(member.fault.error,
                            absl::StrCat(member.fault.name, " refuses it")));
         }
         return false;
       });
  return status;
}

absl::Duration ResourceFaults::DelayOf(topology::NodeId node, uint64_t process,
                                       ResourceCall call) {
  absl::Duration delay;
  Find({FaultPlace::OfNode(node), FaultPlace::OfProcess(process)},
       [&](Member& member) {
         if (member.fault.call != call || !IsDelay(member.fault)) return false;
         if (member.acts.Count(member.fault.window)) {
           delay += member.fault.delay;
         }
         return false;
       });
  return delay;
}

}  // namespace ibemu::fabric
