// Scenario files: what is to happen in a fabric, and when.
#ifndef IBEMU_DAEMON_SCENARIO_SCENARIO_PLAN_H_
#define IBEMU_DAEMON_SCENARIO_SCENARIO_PLAN_H_

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/time.h"
#include "topology/fault_list.h"

namespace ibemu::daemon {

// A ScenarioStep is one command of a scenario, and when and how often it is
// carried out.
struct ScenarioStep {
  static constexpr int64_t kForever = std::numeric_limits<int64_t>::max();

  int line = 0;                                 // of the file, from 1
  absl::Duration at;                            // from the scenario's start
  absl::Duration every = absl::ZeroDuration();  // 0: once
  int64_t times = 1;                            // kForever: until it is ended
  std::string command;  // as typed after "ibemu": "link node-1/1 down"

  bool operator==(const ScenarioStep&) const = default;
};

// The limits of a scenario, in a file and on the control socket alike.
inline constexpr size_t kMaxScenarioSteps = 1000;
inline constexpr absl::Duration kLatestScenarioTime = absl::Hours(366 * 24);
inline constexpr absl::Duration kShortestScenarioPeriod = absl::Milliseconds(1);

// A ScenarioPlan is a scenario's file as values.  Its steps are in the order of
// the file, not of time.
struct ScenarioPlan {
  std::string file;
  std::optional<int64_t> seed;  // of the faults that it adds; not negative
  std::vector<ScenarioStep> steps;
};

// Reads the YAML of ibemu-scenarios(5).  What is wrong with it goes to
// `faults`, steps that are sound in themselves to the plan: whether there are
// their nodes and ports only the fabric knows.
ScenarioPlan ParseScenario(std::string_view text, std::string_view file,
                           topology::FaultList& faults);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SCENARIO_SCENARIO_PLAN_H_
