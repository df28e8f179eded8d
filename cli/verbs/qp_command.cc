#include "cli/verbs/qp_command.h"

#include <CLI/App.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "cli/verbs/cell_text.h"
#include "cli/verbs/list_pages.h"
#include "control/client.h"
#include "control/rpc.h"
#include "daemon/words/queue_pair_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kQueuePairHelp[] = R"(Usage: ibemu qp ls [NODE] [OPTION]...
  or:  ibemu qp show NODE/QPN [OPTION]...
List the queue pairs of a fabric's simulated adapters, or of one node: type,
state, peer, how many work requests each queue holds of how many it may, how
many of those sent are not complete, and the process that owns them.  Or show
one queue pair, with its attributes and what it has counted.

  QPN             its number (0x12 or 18)
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs: also what each has counted

Example:
  ibemu qp ls node-3
)";

struct QueuePairFlags {
  std::string fabric;
  std::string what;  // a node, or a queue pair
  bool json = false;
};

// "node-2/0x13"; "LID 5/0x13" if nobody here has the LID.
std::string PeerText(const json& peer) {
  if (peer.is_null()) return "-";
  const std::string node = peer["node"].is_null()
                               ? absl::StrCat("LID ", peer["lid"].get<int>())
                               : peer["node"].get<std::string>();
  return absl::StrCat(node, "/", HexText(peer["qpn"]));
}

std::string QueueText(const json& queue) {
  return queue.is_null() ? "shared" : FillText(queue["posted"], queue["size"]);
}

std::string ProcessText(const json& pid) {
  return pid.is_null() ? "ibemud" : pid.dump();
}

absl::Status List(const QueuePairFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const json all, ListPages(flags.fabric, "qp.list",
                                                   flags.what, "queue_pairs"));
  if (flags.json) {
    Print(control::DumpForPeople(all));
    return absl::OkStatus();
  }
  Table table({"NODE", "QPN", "TYPE", "STATE", "PEER", "SEND", "RECEIVE",
               "OUTSTANDING", "PROCESS"});
  for (const json& qp : all) {
    table.Add({qp["node"].get<std::string>(), HexText(qp["qpn"]),
               qp["type"].get<std::string>(), qp["state"].get<std::string>(),
               PeerText(qp["peer"]), QueueText(qp["send"]),
               QueueText(qp["receive"]), qp["send"]["outstanding"].dump(),
               ProcessText(qp["pid"])});
  }
  Print(table.Text());
  return absl::OkStatus();
}

// "67.108864ms"
std::string DurationText(const json& nanoseconds) {
  return absl::FormatDuration(absl::Nanoseconds(nanoseconds.get<int64_t>()));
}

// "LID 3, SL 0, path bits 0; to GID fe80::1, from GID 0, hop limit 64"
std::string AddressText(const json& address) {
  std::string text = absl::StrFormat(
      "LID %d, SL %d, path bits %d", address["dlid"].get<int>(),
      address["sl"].get<int>(), address["src_path_bits"].get<int>());
  if (const json& grh = address["grh"]; !grh.is_null()) {
    absl::StrAppendFormat(&text, "; to GID %s, from GID %d, hop limit %d",
                          grh["dgid"].get<std::string>(),
                          grh["sgid_index"].get<int>(),
                          grh["hop_limit"].get<int>());
  }
  return text;
}

// What a queue pair of a connection has.
void AddConnection(const json& attributes, Table& table) {
  if (!attributes.contains("ah_attr")) return;
  table.Add({"path", AddressText(attributes["ah_attr"])});
  if (attributes.contains("alt_ah_attr")) {
    table.Add({"alternate path",
               absl::StrCat(AddressText(attributes["alt_ah_attr"]), "; port ",
                            attributes["alt_port_num"].dump())});
    table.Add({"migration", attributes["path_mig_state"].get<std::string>()});
  }
  table.Add({"path MTU", attributes["path_mtu"].dump()});
  table.Add({"access", absl::StrJoin(attributes["qp_access_flags"], ", ",
                                     [](std::string* text, const json& word) {
                                       absl::StrAppend(text,
                                                       word.get<std::string>());
                                     })});
}

// What a reliable connection has.
void AddReliability(const json& attributes, Table& table) {
  if (!attributes.contains("timeout")) return;
  const json& timeout = attributes["timeout_ns"];
  table.Add({"timeout",
             timeout.is_null()
                 ? "0 (none: a lost packet is waited for for ever)"
                 : absl::StrFormat("%d (%s)", attributes["timeout"].get<int>(),
                                   DurationText(timeout))});
  table.Add({"retries", attributes["retry_cnt"].dump()});
  table.Add({"RNR retries", attributes["rnr_retry"] == 7
                                ? "7 (no end)"
                                : attributes["rnr_retry"].dump()});
  table.Add({"RNR timer",
             absl::StrFormat("%d (%s)", attributes["min_rnr_timer"].get<int>(),
                             DurationText(attributes["min_rnr_timer_ns"]))});
  table.Add({"READs and atomics",
             absl::StrFormat("%d to the peer, %d from it",
                             attributes["max_rd_atomic"].get<int>(),
                             attributes["max_dest_rd_atomic"].get<int>())});
}

std::string DetailsText(const json& qp) {
  const json& attributes = qp["attributes"];
  Table table({"QUEUE PAIR", absl::StrCat(qp["node"].get<std::string>(), "/",
                                          HexText(qp["qpn"]))});
  table.Add({"type", qp["type"].get<std::string>()});
  table.Add({"state", qp["state"].get<std::string>()});
  table.Add({"process", ProcessText(qp["pid"])});
  table.Add({"port", qp["port"].is_null() ? "-" : qp["port"].dump()});
  table.Add({"peer", PeerText(qp["peer"])});
  AddConnection(attributes, table);
  if (attributes.contains("qkey")) {
    table.Add({"Q_Key", HexText(attributes["qkey"])});
  }
  table.Add({"P_Key index", attributes["pkey_index"].dump()});
  table.Add({"send queue",
             absl::StrCat(QueueText(qp["send"]), ", ",
                          qp["send"]["outstanding"].dump(), " outstanding")});
  table.Add({"receive queue", QueueText(qp["receive"])});
  table.Add({"next PSN to send", HexText(attributes["sq_psn"])});
  if (attributes.contains("rq_psn")) {
    table.Add({"next PSN to come", HexText(attributes["rq_psn"])});
  }
  AddReliability(attributes, table);
  for (const auto& [name, count] : qp["counters"].items()) {
    table.Add({name, count.dump()});
  }
  return table.Text();
}

absl::Status Show(const QueuePairFlags& flags) {
  const std::optional<daemon::QueuePairName> name =
      daemon::ParseQueuePairName(flags.what);
  if (!name) {
    return absl::InvalidArgumentError(
        absl::StrCat("\"", flags.what,
                     "\" names no queue pair: NODE/QPN does, as node-1/0x12"));
  }
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  IBEMU_ASSIGN_OR_RETURN(
      const json qp,
      client.Call("qp.show", {{"node", name->node}, {"qpn", name->qpn}}));
  Print(flags.json ? control::DumpForPeople(qp) : DetailsText(qp));
  return absl::OkStatus();
}

}  // namespace

void AddQp(CLI::App& app, Action& action) {
  CLI::App* qp = app.add_subcommand("qp");
  SetHelp(*qp, kQueuePairHelp);
  const auto flags = std::make_shared<QueuePairFlags>();
  qp->add_option("--fabric", flags->fabric);
  CLI::App* ls = qp->add_subcommand("ls");
  SetHelp(*ls, kQueuePairHelp);
  ls->add_option("--fabric", flags->fabric);
  ls->add_flag("--json", flags->json);
  ls->add_option("node", flags->what);
  OnUse(*ls, action, "qp", [flags] { return List(*flags); });
  CLI::App* show = qp->add_subcommand("show");
  SetHelp(*show, kQueuePairHelp);
  show->add_option("--fabric", flags->fabric);
  show->add_flag("--json", flags->json);
  show->add_option("qp", flags->what)->required();
  OnUse(*show, action, "qp", [flags] { return Show(*flags); });
}

}  // namespace ibemu::cli
