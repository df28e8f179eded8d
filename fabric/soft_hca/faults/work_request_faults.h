// WorkRequestFaults: faults of receive requests and of completions.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_WORK_REQUEST_FAULTS_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_WORK_REQUEST_FAULTS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/time/time.h"
#include "base/timers.h"
#include "fabric/faults/fault_place.h"
#include "fabric/soft_hca/faults/completion_fate.h"
#include "fabric/soft_hca/faults/fault_table.h"
#include "fabric/soft_hca/faults/fault_window.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// A WorkRequestFault is one fault of receive requests or of completions.
struct WorkRequestFault {
  std::string name{};  // for people
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

// The faults of work requests of all software adapters.  Of several that
// concern a completion, the first acts, an adapter's before a process's, and
// the others do not count it.
class WorkRequestFaults {
 public:
  explicit WorkRequestFaults(const Timers& timers) : timers_(timers) {}

  // Adds a fault to all queue pairs of the place, or to `qpn`.
  AdapterFaultId Add(FaultPlace place, std::optional<uint32_t> qpn,
                     const WorkRequestFault& fault);
  // See FaultTable.
  void Remove(AdapterFaultId fault) { table_.Remove(fault); }
  const FaultActs& ActsOf(AdapterFaultId fault) const {
    return table_.ActsOf(fault);
  }
  bool empty() const { return table_.empty(); }

  // Returns the name of the fault by which a message finds no receive request
  // at this queue pair of a process; nothing: there is none.
  std::optional<std::string> NotReadyBy(topology::NodeId node, uint64_t process,
                                        uint32_t qpn);
  // Returns what becomes of the next completion of a queue.
  CompletionFate FateOf(topology::NodeId node, uint64_t process, uint32_t qpn,
                        WorkQueue queue);

 private:
  // A fault, whose queue pair it is of, and its end.
  struct Placed {
    WorkRequestFault what;
    std::optional<uint32_t> qpn;
    absl::Time end;
  };

  const Timers& timers_;
  FaultTable<Placed> table_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_WORK_REQUEST_FAULTS_H_
