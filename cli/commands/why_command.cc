#include "cli/commands/why_command.h"

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "control/client.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kHelp[] = R"(Usage: ibemu why NODE[/QPN] [OPTION]...
Print why work requests of a host's queue pairs failed, and the last things that
happened to these, also to those that their programs have destroyed.

  QPN             the number of one queue pair (0x12 or 18), of which all is
                  printed; without it, those in which something failed
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs: all queue pairs

Times are those of "ibemu events".

Example:
  ibemu why node-1
)";

struct Flags {
  std::string fabric;
  std::string what;
  bool json = false;
};

// "node-1/0x12": the last slash counts, if a number follows it.
json ParametersOf(const std::string& what) {
  const size_t slash = what.rfind('/');
  uint32_t qpn = 0;
  if (slash != what.npos) {
    const std::string number = what.substr(slash + 1);
    if (absl::SimpleAtoi(number, &qpn) || absl::SimpleHexAtoi(number, &qpn)) {
      return {{"node", what.substr(0, slash)}, {"qpn", qpn}};
    }
  }
  return {{"node", what}};
}

std::string Seconds(const json& nanoseconds) {
  return absl::StrFormat("%.6f",
                         static_cast<double>(nanoseconds.get<int64_t>()) / 1e9);
}

std::string HistoryText(const json& queue_pair) {
  Table table({"TIME", "UNTIL", "COUNT", "KIND", "PSN", "WHAT"});
  for (const json& incident : queue_pair["incidents"]) {
    const bool once = incident["count"] == 1;
    table.Add({Seconds(incident["time_ns"]),
               once ? "" : Seconds(incident["until_ns"]),
               once ? "" : incident["count"].dump(),
               incident["kind"].get<std::string>(),
               incident["kind"] == "state"
                   ? ""
                   : absl::StrFormat("0x%x", incident["psn"].get<uint32_t>()),
               incident["text"].get<std::string>()});
  }
  return table.Text();
}

absl::Status Why(const Flags& flags) {
  const json parameters = ParametersOf(flags.what);
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         client.Call("queue_pair.why", parameters));
  if (flags.json) {
    Print(control::DumpForPeople(result));
    return absl::OkStatus();
  }
  bool printed = false;
  for (const json& queue_pair : result["queue_pairs"]) {
    const bool failed = !queue_pair["why"].is_null();
    if (!failed && !parameters.contains("qpn")) continue;
    Print(absl::StrCat(printed ? "\n" : "",
                       failed ? queue_pair["why"].get<std::string>()
                              : "no work request has failed",
                       "\n\n", HistoryText(queue_pair)));
    printed = true;
  }
  if (!printed) {
    Print(absl::StrCat("no work request of ", flags.what, " has failed: ",
                       result["queue_pairs"].size(), " queue pairs\n"));
  }
  return absl::OkStatus();
}

}  // namespace

void AddWhy(CLI::App& app, Action& action) {
  CLI::App* why = app.add_subcommand("why");
  SetHelp(*why, kHelp);
  const auto flags = std::make_shared<Flags>();
  why->add_option("--fabric", flags->fabric);
  why->add_flag("--json", flags->json);
  why->add_option("what", flags->what)->required();
  OnUse(*why, action, "why", [flags] { return Why(*flags); });
}

}  // namespace ibemu::cli
