#include "cli/commands/health_command.h"

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "control/client.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kHealthHelp[] =
    R"(Usage: ibemu health [--fabric=NAME] [--json]
Say what is wrong with a fabric: links that are not active or are slower than
both ends could be, and the ports that count the most errors.  The exit status
is 1 if anything is.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs
)";

struct HealthFlags {
  std::string fabric;
  bool json = false;
};

std::string EndText(const json& end) {
  return absl::StrCat(end["node"].get<std::string>(), "/",
                      end["port"].get<int>());
}

// ", sweeping for 1.2 s: 300 SMPs, 0 of them Set" or ", swept 7 s ago, in 0.4
// s: 1243 SMPs, 310 of them Set"; nothing where it is not known.
std::string SweepText(const json& manager) {
  const auto found = manager.find("sweep");
  if (found == manager.end()) return "";
  const json& sweep = *found;
  const auto seconds = sweep["seconds"].get<double>();
  std::string text = sweep["under_way"].get<bool>()
                         ? absl::StrFormat(", sweeping for %.1f s", seconds)
                         : absl::StrFormat(", swept %.0f s ago, in %.1f s",
                                           sweep["ago"].get<double>(), seconds);
  const auto sets = sweep["sets"].get<uint64_t>();
  const uint64_t all = sweep["gets"].get<uint64_t>() + sets;
  if (all != 0) {
    absl::StrAppend(&text, ": ", all, all == 1 ? " SMP" : " SMPs", ", ", sets,
                    " of them Set");
  }
  return text;
}

std::string HealthText(const json& health) {
  const auto active = health["links"]["active"].get<uint64_t>();
  std::string text = absl::StrCat(
      active, active == 1 ? " link is active\n" : " links are active\n");
  for (const json& manager : health["managers"]) {
    absl::StrAppend(&text, "subnet manager at ", EndText(manager),
                    manager["master"].get<bool>() ? ", the master" : "",
                    SweepText(manager), "\n");
  }
  for (const json& link : health["slow"]) {
    absl::StrAppend(&text, EndText(link["a"]), " - ", EndText(link["b"]), ": ",
                    link["rate"].get<std::string>(), ", could be ",
                    link["could_be"].get<std::string>(), "\n");
  }
  for (const json& port : health["errors"]) {
    std::vector<std::string> counters;
    for (const json& counter : port["counters"]) {
      counters.push_back(absl::StrCat(counter["name"].get<std::string>(), " ",
                                      counter["value"].get<uint64_t>()));
    }
    absl::StrAppend(&text, EndText(port), ": ", absl::StrJoin(counters, ", "),
                    "\n");
  }
  return text;
}

absl::Status Health(const HealthFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  IBEMU_ASSIGN_OR_RETURN(const json health,
                         client.Call("health", json::object()));
  Print(flags.json ? control::DumpForPeople(health) : HealthText(health));
  const auto wrong = health["wrong"].get<std::vector<std::string>>();
  if (wrong.empty()) return absl::OkStatus();
  return absl::FailedPreconditionError(absl::StrJoin(wrong, ", "));
}

}  // namespace

void AddHealth(CLI::App& app, Action& action) {
  CLI::App* health = app.add_subcommand("health");
  SetHelp(*health, kHealthHelp);
  const auto flags = std::make_shared<HealthFlags>();
  health->add_option("--fabric", flags->fabric);
  health->add_flag("--json", flags->json);
  OnUse(*health, action, "health", [flags] { return Health(*flags); });
}

}  // namespace ibemu::cli
