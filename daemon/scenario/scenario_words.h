// The commands of scenarios: ibemu's own, in its own words.
#ifndef IBEMU_DAEMON_SCENARIO_SCENARIO_WORDS_H_
#define IBEMU_DAEMON_SCENARIO_SCENARIO_WORDS_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

// Words as a shell divides them: quotes, single or double, hold one together.
//
// Errors: InvalidArgument for a quote without an end.
absl::StatusOr<std::vector<std::string>> SplitWords(std::string_view text);

// A method of the control socket.
struct ScenarioCall {
  std::string method;
  nlohmann::json parameters;
};

// Reads a command such as "link node-1/1 down --for=2s" or "fault add --name=x
// link node-1/1 loss 5%".  The description of a fault is checked, too.
//
// Errors: InvalidArgument.
absl::StatusOr<ScenarioCall> ParseCommand(std::string_view command);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SCENARIO_SCENARIO_WORDS_H_
