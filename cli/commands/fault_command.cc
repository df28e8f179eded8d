#include "cli/commands/fault_command.h"

#include <CLI/App.hpp>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "control/client.h"
#include "control/rpc.h"
#include "daemon/words/fault_counts.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kFaultHelp[] =
    R"(Usage: ibemu fault add [--name=NAME] link NODE/PORT WHAT...
  or:  ibemu fault add [--name=NAME] node NODE WHAT...
  or:  ibemu fault add [--name=NAME] qp NODE/QPN WHAT...
  or:  ibemu fault add [--name=NAME] host NODE WHAT...
  or:  ibemu fault add [--name=NAME] process PID WHAT...
  or:  ibemu fault ls [--json]
  or:  ibemu fault rm NAME
  or:  ibemu fault reset
Let something go wrong with a link and its packets, with what a node's management
agents answer, with a queue pair (QPN as "ibemu qp ls" prints it, or *: all of the
node), with a host's verbs, or with those of a process; list what does, with
counts; remove one fault, or all.

  --name=NAME     without: fault-1, fault-2 ...; add prints it
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")

WHAT of a link is one or more of
  loss P%              vanishes
  corrupt P%           arrives with a bad CRC, is counted there and dropped
  ber RATE             each bit, as in 1e-12; a wrong one is a symbol error and
                       corrupts its packet
  duplicate P%         arrives twice
  reorder P%           arrives 1 ms later; others overtake it
  delay TIME [JITTER]  all of them, by TIME plus or minus JITTER, in order
  flap PERIOD DOWN [JITTER]
                       each PERIOD the link is down for DOWN
of a node
  slow TIME [JITTER]   its agents answer later by TIME plus or minus JITTER
  loss P%              they don't answer
and, if wanted,
  attr NAME            only MADs of this attribute (NodeInfo, Notice ...) or this
                       class (SM, SA, PM, CM ...), only MAD, only verbs
  dir tx|rx            only what leaves through the port, only what enters
  seed N               of its luck; without, the daemon's

WHAT of a queue pair is loss, corrupt, duplicate, reorder (each without P%: 100%)
or delay, and, if wanted, dir, seed and
  opcode NAME          only packets of this opcode (rc-send-only, rc-acknowledge,
                       ud-send-only ...) or group (any, send, rdma-write,
                       read-response, atomic, ack)
  psn N                only packets with this number
  nth N[-M]            only the Nth of those that it concerns, or those up to M
or one of
  rnr [TIME]           the receiver is not ready, for so long
  completion loss|delay TIME|STATUS
                       completions never come, come late, or have an error
                       (remote-access-error [vendor-err N] ...); with dir and nth
  error                it enters the error state, now
  sqe                  it enters the send queue error state, now

WHAT of a host is alloc-pd, reg-mr, create-cq, create-qp, create-srq or create-ah,
which fail; if wanted, with nth and
  errno NAME           ENOMEM (without: this), EINVAL, EAGAIN
  delay TIME           instead, of reg-mr: it succeeds, so much later
or completion-event or async-event, with loss or delay TIME, and nth: programs
never hear of them, or hear of them later; or
  event NAME [port N]  programs hear of it now: port-error, port-active,
                       lid-change, gid-change, pkey-change, sm-change,
                       client-reregister, device-fatal

WHAT of a process is what a queue pair and a host may have, but for event.

Example:
  ibemu fault add link node-1/1 loss 5% delay 10us 2us
  ibemu fault add node switch-1 slow 50ms attr PortInfo
  ibemu fault add qp node-3/0x12 loss opcode rc-acknowledge nth 1
  ibemu fault add process 4711 create-qp nth 3
)";

struct FaultFlags {
  std::string fabric;
  std::string name;
  std::vector<std::string> words;
  bool json = false;
};

absl::StatusOr<json> Call(const FaultFlags& flags, std::string_view method,
                          const json& parameters) {
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  return client.Call(method, parameters);
}

absl::Status Add(const FaultFlags& flags) {
  json parameters = {{"words", flags.words}};
  if (!flags.name.empty()) parameters["name"] = flags.name;
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         Call(flags, "fault.add", parameters));
  // What was done once has no name to be removed by.
  if (!result.value("done", false)) Print(result.value("name", "") + "\n");
  return absl::OkStatus();
}

// Returns the place of a fault, which has no port at a node, a host and a
// process.
std::string Place(const json& fault) {
  if (fault.contains("pid")) {
    return absl::StrCat("process ", fault["pid"].get<uint64_t>());
  }
  const auto node = fault["node"].get<std::string>();
  if (fault.contains("qpn")) {
    return absl::StrCat(node, "/", fault["qpn"].get<std::string>());
  }
  return fault["port"].is_null()
             ? node
             : absl::StrCat(node, "/", fault["port"].get<int>());
}

// Returns how often a fault acted that is none of packets: "1 of 5".
std::string Acts(const json& fault) {
  const auto acts = fault.find("acts");
  if (acts == fault.end()) return "-";
  return absl::StrCat((*acts)["acted"].get<uint64_t>(), " of ",
                      (*acts)["seen"].get<uint64_t>());
}

absl::Status List(const FaultFlags& flags) {
  IBEMU_ASSIGN_OR_RETURN(const json result,
                         Call(flags, "fault.list", json::object()));
  const json& faults = result["faults"];
  if (flags.json) {
    Print(control::DumpForPeople(faults));
    return absl::OkStatus();
  }
  Table table({"FAULT", "PLACE", "DIR", "WHAT", "PACKETS", "LOST", "CORRUPTED",
               "DUPLICATED", "REORDERED", "DELAYED", "ACTED"});
  for (const json& fault : faults) {
    const auto sum = [&fault](const char* count) {
      return absl::StrCat(daemon::FaultPackets(fault, count));
    };
    table.Add({fault["name"], Place(fault),
               fault["dir"].is_null() ? "-" : fault["dir"].get<std::string>(),
               fault["what"], sum("packets"), sum("lost"), sum("corrupted"),
               sum("duplicated"), sum("reordered"), sum("delayed"),
               Acts(fault)});
  }
  Print(table.Text());
  return absl::OkStatus();
}

absl::Status Remove(const FaultFlags& flags) {
  return Call(flags, "fault.remove", {{"name", flags.name}}).status();
}

absl::Status Reset(const FaultFlags& flags) {
  return Call(flags, "fault.reset", json::object()).status();
}

}  // namespace

void AddFault(CLI::App& app, Action& action) {
  CLI::App* fault = app.add_subcommand("fault");
  SetHelp(*fault, kFaultHelp);
  const auto flags = std::make_shared<FaultFlags>();
  fault->add_option("--fabric", flags->fabric);
  const auto part = [&](const char* name,
                        absl::Status (*act)(const FaultFlags&)) {
    CLI::App* command = fault->add_subcommand(name);
    SetHelp(*command, kFaultHelp);
    command->add_option("--fabric", flags->fabric);
    OnUse(*command, action, "fault", [flags, act] { return act(*flags); });
    return command;
  };
  CLI::App* add = part("add", Add);
  add->add_option("--name", flags->name);
  add->add_option("link", flags->words)->required();
  part("ls", List)->add_flag("--json", flags->json);
  part("rm", Remove)->add_option("name", flags->name)->required();
  part("reset", Reset);
}

}  // namespace ibemu::cli
