// ResourceFaults: faults of the calls that create objects of verbs.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_RESOURCE_FAULTS_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_RESOURCE_FAULTS_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/time/time.h"
#include "fabric/soft_hca/faults/fault_table.h"
#include "fabric/soft_hca/faults/fault_window.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// The calls that take something up.
enum class ResourceCall : uint8_t {
  kAllocPd,
  kRegMr,
  kCreateCq,
  kCreateQp,
  kCreateSrq,
  kCreateAh,
};

// A call that fails, or takes long.
struct ResourceFault {
  ResourceCall call = ResourceCall::kCreateQp;
  absl::StatusCode error = absl::StatusCode::kResourceExhausted;
  // Not 0: it succeeds, so much later.  Only of kRegMr.
  absl::Duration delay = absl::ZeroDuration();
  FaultWindow window{};
  std::string name{};  // of the fault, for who asks why

  bool operator==(const ResourceFault&) const = default;
};

// The calls that fail or take long, of all software adapters.
class ResourceFaults : public FaultTable<ResourceFault> {
 public:
  // Returns the error with which this call of a process fails, or OK.  Each
  // fault that concerns the call counts it.
  absl::Status Check(topology::NodeId node, uint64_t process,
                     ResourceCall call);
  // Returns how long this call takes: the delays of all faults that concern it,
  // each of which counts it.
  absl::Duration DelayOf(topology::NodeId node, uint64_t process,
                         ResourceCall call);
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_RESOURCE_FAULTS_H_
