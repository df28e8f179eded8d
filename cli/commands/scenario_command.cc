#include "cli/commands/scenario_command.h"

#include <CLI/App.hpp>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/line_reader.h"
#include "control/client.h"
#include "control/json_text.h"
#include "daemon/scenario/scenario_methods.h"
#include "daemon/scenario/scenario_plan.h"
#include "nlohmann/json.hpp"
#include "topology/read_file.h"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kScenarioHelp[] = R"(Usage: ibemu scenario FILE [OPTION]...
Do what a file says, each step at its time, and print it; a mistake anywhere in
the file, and nothing is done.  Ends with the last step; to end it earlier ends
what is to come, not what was done.

  --check         read the file only; needs no daemon
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

FILE is YAML ("-": standard input), a list of steps:
  - {at: 2s, do: link node-1/1 down}
  - {at: 5s, every: 1s, repeat: 3, do: fault reset}
with the commands link, node, device, counter and fault; ibemu-scenarios(5)
tells more.
)";

struct ScenarioFlags {
  std::string fabric;
  std::string file;
  bool check = false;
};

// Adds the daemon's objections to the steps to `faults`.
absl::Status AddMistakes(control::Client& client,
                         const daemon::ScenarioPlan& plan,
                         topology::FaultList& faults) {
  IBEMU_ASSIGN_OR_RETURN(
      const json result,
      client.Call("scenario.check", daemon::DescribePlan(plan)));
  for (const json& fault : result.value("faults", json::array())) {
    faults.Add({.file = 0, .line = fault.value("line", 0)},
               fault.value("what", ""));
  }
  return absl::OkStatus();
}

absl::Status Failed(const json& event) {
  return absl::AbortedError(
      absl::StrFormat("%s:%d: %s", event.value("file", ""),
                      event.value("line", 0), event.value("error", "")));
}

// Prints each step as it is carried out, until the scenario ends.
absl::Status Follow(int stream) {
  LineReader lines(stream);
  while (const std::optional<std::string> line = lines.Next()) {
    const json event = control::ParseJson(*line).value_or(json());
    if (!event.is_object()) continue;
    const std::string state = event.value("state", "");
    if (state == "failed") return Failed(event);
    if (state == "ended") return absl::OkStatus();
    if (state != "step") continue;
    PrintNow(absl::StrFormat(
        "%10.3f  %s\n",
        static_cast<double>(event.value("at_ns", int64_t{0})) / 1e9,
        event.value("do", "")));
  }
  return absl::UnavailableError("the daemon has ended");
}

absl::Status Run(const ScenarioFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const std::string text,
                         topology::ReadFile(flags.file));
  topology::FaultList faults;
  const daemon::ScenarioPlan plan =
      daemon::ParseScenario(text, flags.file, faults);
  if (flags.check) {
    IBEMU_RETURN_IF_ERROR(faults.ToStatus());
    Print(absl::StrFormat("%s: no faults: %d commands\n", flags.file,
                          plan.steps.size()));
    return absl::OkStatus();
  }
  absl::StatusOr<control::Client> client =
      control::Client::Connect(flags.fabric);
  // Mistakes in the file are reported even if there is no daemon.
  if (client.ok()) {
    IBEMU_RETURN_IF_ERROR(AddMistakes(*client, plan, faults));
  }
  IBEMU_RETURN_IF_ERROR(faults.ToStatus());
  IBEMU_RETURN_IF_ERROR(client.status());
  IBEMU_ASSIGN_OR_RETURN(
      const UniqueFd stream,
      client->OpenStream("scenario.run", daemon::DescribePlan(plan)));
  return Follow(stream.get());
}

}  // namespace

void AddScenario(CLI::App& app, Action& action) {
  CLI::App* scenario = app.add_subcommand("scenario");
  SetHelp(*scenario, kScenarioHelp);
  const auto flags = std::make_shared<ScenarioFlags>();
  scenario->add_flag("--check", flags->check);
  scenario->add_option("--fabric", flags->fabric);
  scenario->add_option("file", flags->file)->required();
  OnUse(*scenario, action, "scenario", [flags] { return Run(*flags); });
}

}  // namespace ibemu::cli
