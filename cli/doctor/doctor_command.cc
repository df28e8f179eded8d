#include "cli/doctor/doctor_command.h"

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "base/standard_output.h"
#include "cli/doctor/doctor.h"
#include "cli/doctor/doctor_facts.h"
#include "cli/doctor/doctor_trials.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kHelp[] = R"(Usage: ibemu doctor [--json]
Try what ibemu needs on this machine; name each obstacle and its cure.

  --json   for programs

The exit status is 0 when nothing is in the way, else 1.
)";

const char* LevelName(Finding::Level level) {
  switch (level) {
    case Finding::Level::kFine:
      return "ok";
    case Finding::Level::kNote:
      return "note";
    case Finding::Level::kObstacle:
      return "OBSTACLE";
  }
  return "";
}

void PrintJson(const std::vector<Finding>& findings) {
  json list = json::array();
  for (const Finding& finding : findings) {
    list.push_back({{"level", LevelName(finding.level)},
                    {"subject", finding.subject},
                    {"what", finding.what},
                    {"cure", finding.cure}});
  }
  Print(control::DumpForPeople(list));
}

void PrintText(const std::vector<Finding>& findings) {
  for (const Finding& finding : findings) {
    Print(absl::StrFormat("%-8s  %-13s  %s\n", LevelName(finding.level),
                          finding.subject, finding.what));
    if (!finding.cure.empty()) {
      Print(absl::StrFormat("%25s%s\n", "", finding.cure));
    }
  }
}

int Doctor(bool as_json) {
  const std::vector<Finding> findings =
      Diagnose(ReadDoctorFacts(""), TryEverything());
  as_json ? PrintJson(findings) : PrintText(findings);
  const bool obstacle =
      std::any_of(findings.begin(), findings.end(), [](const Finding& finding) {
        return finding.level == Finding::Level::kObstacle;
      });
  return obstacle ? 1 : 0;
}

}  // namespace

void AddDoctor(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("doctor");
  SetHelp(*command, kHelp);
  const auto as_json = std::make_shared<bool>(false);
  command->add_flag("--json", *as_json);
  command->callback(
      [as_json, &action] { action = [as_json] { return Doctor(*as_json); }; });
}

}  // namespace ibemu::cli
