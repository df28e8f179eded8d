#include "cli/commands/qp_command.h"

#include <CLI/App.hpp>
#include <memory>
#include <string>

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

constexpr char kHelp[] = R"(Usage: ibemu qp ls [NODE] [OPTION]...
List the queue pairs of a fabric's simulated adapters, or of one node: type,
state, peer, how many work requests each queue holds of how many it may, how
many of those sent are not complete, and the process that owns them.

  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs: also what each has counted

Example:
  ibemu qp ls node-3
)";

struct Flags {
  std::string fabric;
  std::string node;
  bool json = false;
};

std::string QpnText(const json& number) {
  return absl::StrFormat("0x%x", number.get<uint32_t>());
}

// "node-2/0x13"; "LID 5/0x13" if nobody here has the LID.
std::string PeerText(const json& peer) {
  if (peer.is_null()) return "-";
  const std::string node = peer["node"].is_null()
                               ? absl::StrCat("LID ", peer["lid"].get<int>())
                               : peer["node"].get<std::string>();
  return absl::StrCat(node, "/", QpnText(peer["qpn"]));
}

// "3/128"
std::string FillText(const json& queue) {
  if (queue.is_null()) return "shared";
  return absl::StrCat(queue["posted"].get<uint64_t>(), "/",
                      queue["size"].get<uint64_t>());
}

absl::StatusOr<json> ReadAll(const Flags& flags) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  json all = json::array();
  for (json from = 0; !from.is_null();) {
    IBEMU_ASSIGN_OR_RETURN(
        json page,
        client.Call("qp.list", {{"node", flags.node}, {"from", from}}));
    for (json& qp : page["queue_pairs"]) all.push_back(std::move(qp));
    from = page["next"];
  }
  return all;
}

absl::Status List(const Flags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const json all, ReadAll(flags));
  if (flags.json) {
    Print(control::DumpForPeople(all));
    return absl::OkStatus();
  }
  Table table({"NODE", "QPN", "TYPE", "STATE", "PEER", "SEND", "RECEIVE",
               "OUTSTANDING", "PROCESS"});
  for (const json& qp : all) {
    table.Add({qp["node"].get<std::string>(), QpnText(qp["qpn"]),
               qp["type"].get<std::string>(), qp["state"].get<std::string>(),
               PeerText(qp["peer"]), FillText(qp["send"]),
               FillText(qp["receive"]), qp["send"]["outstanding"].dump(),
               qp["pid"].dump()});
  }
  Print(table.Text());
  return absl::OkStatus();
}

}  // namespace

void AddQp(CLI::App& app, Action& action) {
  CLI::App* qp = app.add_subcommand("qp");
  SetHelp(*qp, kHelp);
  const auto flags = std::make_shared<Flags>();
  qp->add_option("--fabric", flags->fabric);
  CLI::App* ls = qp->add_subcommand("ls");
  SetHelp(*ls, kHelp);
  ls->add_option("--fabric", flags->fabric);
  ls->add_flag("--json", flags->json);
  ls->add_option("node", flags->node);
  OnUse(*ls, action, "qp", [flags] { return List(*flags); });
}

}  // namespace ibemu::cli
