// ScenarioMethods: the control socket's methods that play scenarios.
#ifndef IBEMU_DAEMON_SCENARIO_SCENARIO_METHODS_H_
#define IBEMU_DAEMON_SCENARIO_SCENARIO_METHODS_H_

#include <memory>
#include <string>
#include <vector>

#include "control/method_table.h"
#include "daemon/events/event_log.h"
#include "daemon/scenario/scenario_plan.h"
#include "daemon/scenario/scenario_words.h"
#include "daemon/subnet/fault_methods.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A plan as the client has read it, with "file" and, if wanted, "seed", and
// "steps": [{"line": 7, "at_ns": 2000000000, "every_ns": 0, "times": 1, "do":
// "link node-1/1 down"}]; "times" 0: for ever.
nlohmann::json DescribePlan(const ScenarioPlan& plan);

// The ScenarioMethods check and play scenarios for clients of the control
// socket.  The fabric plays one at a time.
class ScenarioMethods {
 public:
  // All must outlive this, and every Caller that it served.  `dispatcher`
  // carries out the steps.
  ScenarioMethods(Loop& loop, fabric::Fabric& fabric,
                  const FaultMethods& faults, EventLog& events,
                  const control::MethodTable& dispatcher);

  // Adds
  //   scenario.check  a plan: {"faults": [{"line": 7, "what": "no node ..."}]}
  //   scenario.run    the same with one end of a pair of stream sockets: plays
  //                   it as long as the caller's connection is open.  The other
  //                   end gets its events, of which {"state": "ended"} or
  //                   "failed" is the last.
  void AddTo(control::MethodTable& dispatcher);

 private:
  class Performance;

  absl::StatusOr<ScenarioPlan> ReadPlan(control::Parameters& parameters) const;
  // A line of the file, and what is wrong with it.
  struct Mistake {
    int line;
    std::string what;
  };
  std::vector<Mistake> FindMistakes(const ScenarioPlan& plan) const;
  absl::Status CheckCall(const ScenarioCall& call) const;
  absl::Status CheckFaultName(const std::string& name,
                              const ScenarioPlan& plan) const;
  absl::StatusOr<nlohmann::json> Check(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Run(control::Parameters& parameters,
                                     control::Caller& caller);

  Loop& loop_;
  fabric::Fabric& fabric_;
  const FaultMethods& faults_;
  EventLog& events_;
  const control::MethodTable& dispatcher_;
  std::weak_ptr<Performance> running_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SCENARIO_SCENARIO_METHODS_H_
