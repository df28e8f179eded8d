// The control socket's methods that play scenarios.
#ifndef IBEMU_DAEMON_SCENARIO_METHODS_H_
#define IBEMU_DAEMON_SCENARIO_METHODS_H_

#include <memory>
#include <string>
#include <vector>

#include "daemon/event_log.h"
#include "daemon/fault_methods.h"
#include "daemon/loop.h"
#include "daemon/rpc.h"
#include "daemon/scenario_plan.h"
#include "daemon/scenario_words.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A plan as the client has read it, with "file" and, if wanted, "seed", and
// "steps": [{"line": 7, "at_ns": 2000000000, "every_ns": 0, "times": 1, "do":
// "link node-1/1 down"}]; "times" 0: for ever.
nlohmann::json DescribePlan(const ScenarioPlan& plan);

// The fabric plays one scenario at a time.
class ScenarioMethods {
 public:
  // All must outlive this, and every Caller that it served.  `dispatcher`
  // carries out the steps.
  ScenarioMethods(Loop& loop, fabric::Fabric& fabric,
                  const FaultMethods& faults, EventLog& events,
                  const Dispatcher& dispatcher);

  // Adds
  //   scenario.check  a plan: {"faults": [{"line": 7, "what": "no node ..."}]}
  //   scenario.run    the same with one end of a pair of stream sockets: plays
  //                   it as long as the caller's connection is open.  The other
  //                   end gets its events, of which {"state": "ended"} or
  //                   "failed" is the last.
  void AddTo(Dispatcher& dispatcher);

 private:
  class Performance;

  absl::StatusOr<ScenarioPlan> ReadPlan(Parameters& parameters) const;
  // What is wrong with which line.
  struct Mistake {
    int line;
    std::string what;
  };
  std::vector<Mistake> FindMistakes(const ScenarioPlan& plan) const;
  absl::Status CheckCall(const ScenarioCall& call) const;
  absl::Status CheckFaultName(const std::string& name,
                              const ScenarioPlan& plan) const;
  absl::StatusOr<nlohmann::json> Check(Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Run(Parameters& parameters, Caller& caller);

  Loop& loop_;
  fabric::Fabric& fabric_;
  const FaultMethods& faults_;
  EventLog& events_;
  const Dispatcher& dispatcher_;
  std::weak_ptr<Performance> running_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SCENARIO_METHODS_H_
