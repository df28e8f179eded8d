#include "cli/verbs/resource_commands.h"

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "cli/verbs/cell_text.h"
#include "cli/verbs/list_pages.h"
#include "control/rpc.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kCqHelp[] = R"(Usage: ibemu cq ls [NODE] [OPTION]...
List the completion queues of programs, of all nodes or of one: how many
completions there are to poll of how many each queue holds, whether it has a
completion channel, and the queue pairs whose sends and receives complete there.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs

Example:
  ibemu cq ls node-3
)";

constexpr char kMrHelp[] = R"(Usage: ibemu mr ls [NODE] [OPTION]...
List the memory regions of programs, of all nodes or of one: their keys, where
they begin, their bytes, and what may be done with them.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs

Example:
  ibemu mr ls node-3
)";

constexpr char kSrqHelp[] = R"(Usage: ibemu srq ls [NODE] [OPTION]...
List the shared receive queues of programs, of all nodes or of one: how many
receive requests each holds of how many it may, the limit below which it raises
an event, the most SGEs of a request, and the queue pairs that take from it.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs

Example:
  ibemu srq ls node-3
)";

constexpr char kMcastHelp[] = R"(Usage: ibemu mcast ls [NODE] [OPTION]...
List the multicast groups that queue pairs of programs are attached to, of all
nodes or of one.  "saquery -m" lists what ports have joined.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs

Example:
  ibemu mcast ls
)";

// How a kind of object is listed: its own columns, between node and process.
struct Kind {
  const char* name;
  const char* help;
  const char* method;
  std::vector<std::string> titles;
  std::vector<std::string> (*cells)(const json& item);
};

// "0x12,0x13"
std::string QpnsText(const json& numbers) {
  if (numbers.empty()) return "-";
  return absl::StrJoin(numbers, ",", [](std::string* text, const json& number) {
    absl::StrAppend(text, HexText(number));
  });
}

std::string WordsText(const json& words) {
  if (words.empty()) return "-";
  return absl::StrJoin(words, ",", [](std::string* text, const json& word) {
    absl::StrAppend(text, word.get<std::string>());
  });
}

const std::vector<Kind>& Kinds() {
  static const std::vector<Kind> kinds = {
      {"cq",
       kCqHelp,
       "cq.list",
       {"CQ", "WAITING", "CHANNEL", "SEND", "RECEIVE"},
       [](const json& cq) -> std::vector<std::string> {
         return {cq["handle"].dump(), FillText(cq["waiting"], cq["size"]),
                 cq["channel"].get<bool>() ? "yes" : "no", QpnsText(cq["send"]),
                 QpnsText(cq["receive"])};
       }},
      {"mr",
       kMrHelp,
       "mr.list",
       {"MR", "LKEY", "RKEY", "ADDRESS", "BYTES", "ACCESS"},
       [](const json& mr) -> std::vector<std::string> {
         return {mr["handle"].dump(), HexText(mr["lkey"]),
                 HexText(mr["rkey"]), HexText(mr["address"]),
                 mr["length"].dump(), WordsText(mr["access"])};
       }},
      {"srq",
       kSrqHelp,
       "srq.list",
       {"SRQ", "POSTED", "LIMIT", "SGES", "RECEIVE"},
       [](const json& srq) -> std::vector<std::string> {
         return {srq["handle"].dump(), FillText(srq["posted"], srq["size"]),
                 srq["limit"].dump(), srq["sges"].dump(),
                 QpnsText(srq["receive"])};
       }},
      {"mcast",
       kMcastHelp,
       "mcast.list",
       {"QPN", "MGID", "MLID"},
       [](const json& member) -> std::vector<std::string> {
         return {HexText(member["qpn"]), member["mgid"].get<std::string>(),
                 HexText(member["mlid"])};
       }},
  };
  return kinds;
}

struct ResourceFlags {
  std::string fabric;
  std::string node;
  bool json = false;
};

absl::Status List(const Kind& kind, const ResourceFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const json all, ListPages(flags.fabric, kind.method,
                                                   flags.node, "items"));
  if (flags.json) {
    Print(control::DumpForPeople(all));
    return absl::OkStatus();
  }
  std::vector<std::string> titles = {"NODE"};
  titles.insert(titles.end(), kind.titles.begin(), kind.titles.end());
  titles.emplace_back("PROCESS");
  Table table(std::move(titles));
  for (const json& item : all) {
    std::vector<std::string> row = {item["node"].get<std::string>()};
    for (std::string& cell : kind.cells(item)) row.push_back(std::move(cell));
    row.push_back(item["pid"].dump());
    table.Add(std::move(row));
  }
  Print(table.Text());
  return absl::OkStatus();
}

}  // namespace

void AddResources(CLI::App& app, Action& action) {
  for (const Kind& kind : Kinds()) {
    CLI::App* command = app.add_subcommand(kind.name);
    SetHelp(*command, kind.help);
    const auto flags = std::make_shared<ResourceFlags>();
    command->add_option("--fabric", flags->fabric);
    CLI::App* ls = command->add_subcommand("ls");
    SetHelp(*ls, kind.help);
    ls->add_option("--fabric", flags->fabric);
    ls->add_flag("--json", flags->json);
    ls->add_option("node", flags->node);
    OnUse(*ls, action, kind.name,
          [&kind, flags] { return List(kind, *flags); });
  }
}

}  // namespace ibemu::cli
