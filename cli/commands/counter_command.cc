#include "cli/commands/counter_command.h"

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "control/client.h"
#include "control/rpc.h"
#include "daemon/words/change_words.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kCounterHelp[] =
    R"(Usage: ibemu counter NODE/PORT [NAME=VALUE...|clear] [OPTION]...
Print what a port has counted, or make it show something else.  perfquery, sysfs
and exporters see it at once; counting goes on from there.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs

Data is in units of 4 bytes.  Where a tool's counter is narrower, it shows the
most that it can.

Example:
  ibemu counter node-1/1 SymbolErrorCounter=70000 LinkDownedCounter=3
)";

struct CounterFlags {
  std::string fabric;
  std::string port;
  std::vector<std::string> changes;
  bool json = false;
};

absl::Status Show(control::Client& client, const json& parameters,
                  bool for_programs) {
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         client.Call("counter.get", parameters));
  Table table({"COUNTER", "VALUE"});
  json object = json::object();
  for (const json& counter : result["counters"]) {
    const std::string name = counter["name"];
    object[name] = counter["value"];
    table.Add({name, absl::StrCat(counter["value"].get<uint64_t>())});
  }
  Print(for_programs ? control::DumpForPeople(object) : table.Text());
  return absl::OkStatus();
}

absl::Status Counter(const CounterFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const daemon::PortText port,
                         daemon::ParsePort(flags.port));
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  if (flags.changes.empty()) {
    return Show(client, {{"node", port.node}, {"port", port.port}}, flags.json);
  }
  IBEMU_ASSIGN_OR_RETURN(const json change,
                         daemon::CounterChange(flags.port, flags.changes));
  return client.Call("counter.set", change).status();
}

}  // namespace

void AddCounter(CLI::App& app, Action& action) {
  CLI::App* counter = app.add_subcommand("counter");
  SetHelp(*counter, kCounterHelp);
  const auto flags = std::make_shared<CounterFlags>();
  counter->add_option("--fabric", flags->fabric);
  counter->add_flag("--json", flags->json);
  counter->add_option("port", flags->port)->required();
  counter->add_option("change", flags->changes);
  OnUse(*counter, action, "counter", [flags] { return Counter(*flags); });
}

}  // namespace ibemu::cli
