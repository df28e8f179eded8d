// The control socket's method that says what happened to queue pairs.
#ifndef IBEMU_DAEMON_WHY_WHY_METHODS_H_
#define IBEMU_DAEMON_WHY_WHY_METHODS_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "control/method_table.h"
#include "daemon/why/diagnosis.h"
#include "daemon/why/mad_history.h"
#include "daemon/why/refused_calls.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A WhyMethods has queue_pair.why, for `ibemu why`: what failed of queue pairs,
// MADs and calls of verbs, and which faults have acted.
class WhyMethods {
 public:
  // What one answer has at most.
  static constexpr size_t kMax = 100;

  // Returns what the faults of these nodes, or of a process, have done.
  using ActedFaults = std::function<nlohmann::json(
      const std::vector<topology::NodeId>& nodes, uint64_t process)>;

  // All must outlive this.
  WhyMethods(Timers& timers, const fabric::Fabric& fabric,
             const Diagnosis& diagnosis, const MadHistory& mads,
             const RefusedCalls& calls, ActedFaults faults);

  // Adds queue_pair.why: {"node": "node-1"}, and "qpn" where one is meant; or
  // {"pid": 4711}, a process's on all nodes.  The answer has
  //   queue_pairs  those in which a work request failed first: "node", "qpn",
  //                "pid", "exists", "why" and "failed_ns" (null: nothing
  //                failed), "trouble" (what happened to it although no request
  //                failed; null: nothing), "last_ns" (of the last incident) and
  //                "incidents" ("time_ns", "until_ns", "count", "kind", "psn"
  //                (null: it has none), "text")
  //   more         how many were left out
  //   mads         those that were not answered, the latest last: "node",
  //                "port", "pid", "begin_ns", "end_ns", "tries", "why"; with
  //                "all": true the last that were answered as well, by "end_ns"
  //   calls        those that a program got an error for: "node", "pid",
  //                "begin_ns", "end_ns", "count", "why"
  //   faults       those that have acted
  //   now_ns
  // The last three kinds are empty with "qpn".  Times are those of events, and
  // each "why" is a sentence.  This must outlive `dispatcher`'s last call.
  //
  // Errors: NotFound: there is no such node, or the node has no such queue pair
  // and had none lately.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Why(control::Parameters& parameters) const;
  int64_t SinceStart(absl::Time time) const;
  nlohmann::json DescribeMads(const std::vector<topology::NodeId>& nodes,
                              uint64_t process, bool answered) const;
  // Adds those of a node to `calls`, or of a process there.
  void DescribeCalls(const fabric::Node& node, std::optional<uint64_t> process,
                     nlohmann::json& calls) const;
  nlohmann::json Describe(topology::NodeId node, uint32_t qpn, bool exists,
                          const fabric::QueuePairHistory& history) const;

  Timers& timers_;
  const fabric::Fabric& fabric_;
  const Diagnosis& diagnosis_;
  const MadHistory& mads_;
  const RefusedCalls& calls_;
  const ActedFaults faults_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WHY_WHY_METHODS_H_
