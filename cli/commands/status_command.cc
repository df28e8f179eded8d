#include "cli/commands/status_command.h"

#include <unistd.h>

#include <CLI/App.hpp>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "cli/commands/host_status.h"
#include "cli/commands/network_status.h"
#include "control/client.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kStatusHelp[] =
    R"(Usage: ibemu status [--fabric=NAME] [--json] [NODE]
Print what a daemon serves, and to whom; or of one host its addresses, who
listens there (rdma_cm), and its connections.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs
)";

constexpr char kNodesHelp[] =
    R"(Usage: ibemu nodes [--fabric=NAME] [--all] [--json]
Print the nodes of a fabric.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --all           all of them; else many are summed up on a terminal
  --json          for programs: always all
)";

constexpr char kLinksHelp[] =
    R"(Usage: ibemu links [--fabric=NAME] [--all] [--json]
Print the links of a fabric.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --all           all of them; else many are summed up on a terminal
  --json          for programs: always all
)";

constexpr size_t kMany = 200;  // more rows than anybody reads on a terminal

struct StatusFlags {
  std::string fabric;
  std::string node;  // of `status`: empty if it is not about one
  bool json = false;
  bool all = false;

  bool Summarise(size_t rows) const {
    return !all && rows > kMany && isatty(STDOUT_FILENO) == 1;
  }
};

std::string Text(const json& value) {
  if (value.is_string()) return value.get<std::string>();
  return value.is_null() ? "-" : value.dump();
}

std::string FabricText(const json& status) {
  const json& fabric = status["fabric"];
  return absl::StrCat(
      "fabric    ", Text(status["topology"]), ": ", Text(fabric["cas"]),
      " channel adapters, ", Text(fabric["switches"]), " switches, ",
      Text(fabric["routers"]), " routers, ", Text(fabric["links_up"]), " of ",
      Text(fabric["links"]), " links up\nsm        ", Text(status["sm"]),
      "\nseed      ", Text(status["seed"]), "\n");
}

// Returns the table of the adapters of --backend=hca.  A daemon of an older
// version, not restarted since an upgrade, may tell less of them.
std::string AdaptersText(const json& adapters) {
  const auto get = [](const json& object, const char* key) {
    return object.contains(key) ? Text(object.at(key)) : "-";
  };
  std::string text;
  for (const json& adapter : adapters) {
    const std::string board = get(adapter, "board_id");
    const std::string error = get(adapter, "error");
    absl::StrAppend(&text, "adapter   ", get(adapter, "adapter"), ": ",
                    get(adapter, "node"), ", ", get(adapter, "node_guid"),
                    get(adapter, "alive") == "false" ? ", dead" : "",
                    "\n          ", get(adapter, "device"),
                    board.empty() ? "" : ", board ", board, ", firmware ",
                    get(adapter, "firmware"), "\n");
    if (error != "-") absl::StrAppend(&text, "          ", error, "\n");
    const auto ports = adapter.find("ports");
    if (ports == adapter.end() || !ports->is_array()) continue;
    for (const json& port : *ports) {
      absl::StrAppend(&text, "          port ", get(port, "port"), ": ",
                      get(port, "state"), " (", get(port, "physical_state"),
                      "), ", get(port, "rate"), ", LID ", get(port, "lid"),
                      ", SM LID ", get(port, "sm_lid"), "\n");
    }
  }
  return text;
}

// "99,012 of 99,100; page 80, asleep 8".
std::string WaysText(const json& ways) {
  uint64_t all = 0;
  std::vector<std::string> others;
  for (const auto& [way, count] : ways.items()) {
    all += count.get<uint64_t>();
    if (way != "ring") others.push_back(absl::StrCat(way, " ", Text(count)));
  }
  return absl::StrCat(ways.value("ring", uint64_t{0}), " of ", all,
                      others.empty() ? "" : "; ", absl::StrJoin(others, ", "));
}

// Which way the calls of clients went.  A daemon of an older version tells of
// none.
std::string ClientsText(const json& status) {
  const json clients = status.value("clients", json::array());
  if (clients.empty()) return "";
  Table table({"CLIENT", "FILE", "WRITES BY RING", "READS BY RING"});
  for (const json& client : clients) {
    table.Add({Text(client["pid"]), Text(client["file"]),
               WaysText(client["sent"]), WaysText(client["received"])});
  }
  return "\n" + table.Text();
}

// "213us", "3.400251s"; "-" for none.
std::string TimeText(const json& seconds) {
  if (!seconds.is_number() || seconds == 0) return "-";
  return absl::FormatDuration(
      absl::Trunc(absl::Seconds(seconds.get<double>()), absl::Microseconds(1)));
}

// Whose adapters are elsewhere.  A daemon of an older version does not tell.
std::string JoinedText(const json& status) {
  const json joined = status.value("joined", json::array());
  if (joined.empty()) return "";
  Table table(
      {"JOINED HOST", "BY", "ROUND TRIP", "BEHIND", "LEASES", "PACKETS"});
  for (const json& host : joined) {
    const std::string peer = Text(host["peer"]);
    table.Add({Text(host["node"]), peer.empty() ? "this machine" : peer,
               TimeText(host.value("round_trip_seconds", json())),
               TimeText(host.value("behind_seconds", json())),
               Text(host["leases"]),
               host.value("packet_connection", false) ? "by a connection"
                                                      : "by the node link"});
  }
  return "\n" + table.Text();
}

// By what the subnet outlives its daemon.  One of an older version has nothing.
std::string JournalText(const json& status) {
  const json journal = status.value("journal", json());
  if (!journal.is_object()) return "";
  const std::string error = Text(journal["error"]);
  return absl::StrCat("journal   ", Text(journal["file"]), "\n",
                      error.empty() ? "" : "          ", error,
                      error.empty() ? "" : "\n");
}

absl::Status ShowStatus(const StatusFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  if (!flags.node.empty()) return ShowHost(client, flags.node, flags.json);
  IBEMU_ASSIGN_OR_RETURN(const json status,
                         client.Call("status", json::object()));
  if (flags.json) {
    Print(control::DumpForPeople(status));
    return absl::OkStatus();
  }
  Print(status.contains("adapters") ? AdaptersText(status["adapters"])
                                    : FabricText(status));
  Print(absl::StrCat("daemon    ibemud ", Text(status["version"]), ", process ",
                     Text(status["pid"]), ", ", Text(status["socket"]), "\n",
                     JournalText(status)));
  if (status["views"].empty()) {
    Print("views     none\n");
    Print(JoinedText(status));
    return absl::OkStatus();
  }
  Table table({"PROCESS", "DEVICE", "NODE", "UMAD"});
  for (const json& view : status["views"]) {
    for (const json& device : view["devices"]) {
      const bool removed = device["name"].is_null();
      table.Add({Text(view["pid"]), removed ? "removed" : Text(device["name"]),
                 Text(device["node"]),
                 removed ? "-"
                         : absl::StrJoin(
                               device["umads"].get<std::vector<int>>(), ",")});
    }
  }
  Print("\n" + table.Text());
  Print(NetworksText(status));
  Print(ClientsText(status));
  Print(JoinedText(status));
  return absl::OkStatus();
}

std::string SumUp(const std::map<std::string, int>& counts,
                  std::string_view what) {
  std::string text;
  for (const auto& [kind, count] : counts) {
    absl::StrAppend(&text, count, " ", kind, "\n");
  }
  return text + "(--all prints the " + std::string(what) + ")\n";
}

absl::Status ShowNodes(const StatusFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  json nodes = json::array();
  for (bool more = true; more;) {
    IBEMU_ASSIGN_OR_RETURN(json page,
                           client.Call("nodes", {{"from", nodes.size()}}));
    for (json& node : page["nodes"]) nodes.push_back(std::move(node));
    more = !page["nodes"].empty() && nodes.size() < page["total"];
  }
  if (flags.json) {
    Print(control::DumpForPeople(nodes));
    return absl::OkStatus();
  }
  if (flags.Summarise(nodes.size())) {
    std::map<std::string, int> counts;
    for (const json& node : nodes) ++counts[Text(node["type"])];
    Print(SumUp(counts, "nodes"));
    return absl::OkStatus();
  }
  const auto state = [](const json& node,
                        const std::vector<std::string>& ports) {
    if (node["plugged"] == false) return std::string("removed");
    if (node["up"] == false) return std::string("off");
    return absl::StrJoin(ports, ",") +
           (node["remote"] == true ? " (remote)" : "");
  };
  Table table({"NODE", "TYPE", "GUID", "NAME", "LID", "STATE", "LINKS"});
  for (const json& node : nodes) {
    std::vector<std::string> lids;
    std::vector<std::string> states;
    for (const json& port : node["ports"]) {
      lids.push_back(Text(port["lid"]));
      states.push_back(Text(port["state"]));
    }
    table.Add({Text(node["description"]), Text(node["type"]),
               Text(node["guid"]), Text(node["name"]), absl::StrJoin(lids, ","),
               state(node, states),
               absl::StrCat(Text(node["ports_linked"]), "/",
                            Text(node["port_count"]))});
  }
  Print(table.Text());
  return absl::OkStatus();
}

std::string LinkEndText(const json& end) {
  return absl::StrCat(Text(end["node"]), "/", Text(end["port"]));
}

absl::Status ShowLinks(const StatusFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  json links = json::array();
  for (json from = 0; !from.is_null();) {
    IBEMU_ASSIGN_OR_RETURN(json page, client.Call("links", {{"from", from}}));
    for (json& link : page["links"]) links.push_back(std::move(link));
    from = page["next"];
  }
  if (flags.json) {
    Print(control::DumpForPeople(links));
    return absl::OkStatus();
  }
  const auto state = [](const json& link) {
    return link["cut"] == true ? "cut" : Text(link["state"]);
  };
  if (flags.Summarise(links.size())) {
    std::map<std::string, int> counts;
    for (const json& link : links) {
      ++counts[absl::StrCat(state(link), " ", Text(link["rate"]))];
    }
    Print(SumUp(counts, "links"));
    return absl::OkStatus();
  }
  Table table({"FROM", "TO", "STATE", "RATE"});
  for (const json& link : links) {
    table.Add({LinkEndText(link["a"]), LinkEndText(link["b"]), state(link),
               Text(link["rate"])});
  }
  Print(table.Text());
  return absl::OkStatus();
}

enum class Takes { kNode, kAll };

void Add(CLI::App& app, Action& action, const char* name, const char* help,
         absl::Status (*show)(const StatusFlags&), Takes takes) {
  CLI::App* command = app.add_subcommand(name);
  SetHelp(*command, help);
  const auto flags = std::make_shared<StatusFlags>();
  command->add_option("--fabric", flags->fabric);
  command->add_flag("--json", flags->json);
  if (takes == Takes::kAll) command->add_flag("--all", flags->all);
  if (takes == Takes::kNode) command->add_option("node", flags->node);
  OnUse(*command, action, name, [flags, show] { return show(*flags); });
}

}  // namespace

void AddStatus(CLI::App& app, Action& action) {
  Add(app, action, "status", kStatusHelp, ShowStatus, Takes::kNode);
  Add(app, action, "nodes", kNodesHelp, ShowNodes, Takes::kAll);
  Add(app, action, "links", kLinksHelp, ShowLinks, Takes::kAll);
}

}  // namespace ibemu::cli
