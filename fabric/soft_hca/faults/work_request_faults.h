// WorkRequestFaults: faults of receive requests and of completions.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_WORK_REQUEST_FAULTS_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_WORK_REQUEST_FAULTS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/soft_hca/faults/completion_fate.h"
#include "fabric/soft_hca/faults/fault_window.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// A WorkRequestFault is one fault of receive requests or of completions.
struct WorkRequestFault {
  // The receiver is not ready: it finds no receive request, whatever was
  // posted.  Otherwise `completion` says what becomes of completions.
  bool not_ready = false;
  // The receiver is not ready for so long, from when the fault is added.
  absl::Duration span = absl::InfiniteDuration();
  CompletionFate completion{};
  bool of_sends = true, of_receives = true;  // whose completions
  FaultWindow window{};

  bool operator==(const WorkRequestFault&) const = default;
};

// The key of one fault of work requests.
struct WorkRequestFaultId {
  topology::NodeId node;
  uint32_t number;
};

// The faults of work requests of all software adapters.  Of several that
// concern a completion, the one that was added first acts, and the others do
// not count it.
class WorkRequestFaults {
 public:
  explicit WorkRequestFaults(const Timers& timers) : timers_(timers) {}
  WorkRequestFaults(const WorkRequestFaults&) = delete;
  WorkRequestFaults& operator=(const WorkRequestFaults&) = delete;

  // Adds a fault to all queue pairs of the node, or to `qpn`.
  WorkRequestFaultId Add(topology::NodeId node, std::optional<uint32_t> qpn,
                         const WorkRequestFault& fault);
  // REQUIRES: the fault was added and not removed.
  void Remove(WorkRequestFaultId fault);
  const FaultActs& ActsOf(WorkRequestFaultId fault) const;

  bool empty() const { return nodes_.empty(); }
  // Returns true if a message finds no receive request at this queue pair.
  bool IsNotReady(topology::NodeId node, uint32_t qpn);
  // Returns what becomes of the next completion of a queue.
  CompletionFate FateOf(topology::NodeId node, uint32_t qpn, WorkQueue queue);

 private:
  struct Member {
    uint32_t number;
    std::optional<uint32_t> qpn;
    WorkRequestFault fault;
    absl::Time end;
    FaultActs acts;
  };

  const Timers& timers_;
  absl::flat_hash_map<topology::NodeId, std::vector<Member>> nodes_;
  uint32_t last_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_WORK_REQUEST_FAULTS_H_
