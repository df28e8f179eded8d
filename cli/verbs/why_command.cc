#include "cli/verbs/why_command.h"

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/one_line.h"
#include "base/standard_output.h"
#include "base/status_macros.h"
#include "cli/command_line/table.h"
#include "control/client.h"
#include "control/rpc.h"
#include "daemon/events/event_text.h"
#include "daemon/words/queue_pair_text.h"
#include "daemon/words/word_reader.h"
#include "nlohmann/json.hpp"
#include "verbs/vendor_error.h"
#include "verbs/wc_status.h"

namespace ibemu::cli {
namespace {

using nlohmann::json;

constexpr char kWhyHelp[] = R"(Usage: ibemu why NODE[/QPN] [OPTION]...
  or:  ibemu why PID [OPTION]...
  or:  ibemu why --vendor-err[=N] [--json]
Print why work requests of a host's queue pairs failed, or of those of a
process, and the last things that happened to these, also to those that their
programs have destroyed; which of its MADs were not answered, which of its
connections failed, which calls were refused, and why; and what faults did that
were added to it.

  QPN             the number of one queue pair (0x12 or 18), of which all is
                  printed; without it, those in which something failed
  PID             the number of a process where the daemon runs
  --all           also what went well: all queue pairs, the last MADs that were
                  answered, and what became of the last connections
  --vendor-err[=N]
                  what a completion's vendor_err stands for (0x81 or 129), or
                  all those that are known: as of a ConnectX, which simulated
                  adapters follow.  No daemon is asked
  --fabric=NAME   a name, or the path of a socket (default: IBEMU_FABRIC, else
                  "default")
  --json          for programs: all queue pairs

Times are those of "ibemu events".

Examples:
  ibemu why node-1
  ibemu why --vendor-err=0x8a
)";

struct WhyFlags {
  std::string fabric;
  std::string what;
  std::optional<std::string> vendor_err;  // empty for all
  bool all = false;
  bool json = false;
};

json ParametersOf(const std::string& what) {
  const std::optional<daemon::QueuePairName> name =
      daemon::ParseQueuePairName(what);
  if (!name) return {{"node", what}};
  return {{"node", name->node}, {"qpn", name->qpn}};
}

// Whether there is nothing in the lists of an answer.
bool IsEmpty(const json& answer) {
  return std::ranges::all_of(
      answer, [](const json& one) { return !one.is_array() || one.empty(); });
}

// Asks about what has this name; a number that is no node's is a process's.
absl::StatusOr<json> Ask(control::Client& client, const std::string& what,
                         bool all) {
  json parameters = ParametersOf(what);
  parameters["all"] = all;
  absl::StatusOr<json> result = client.Call("queue_pair.why", parameters);
  int64_t process = 0;
  if (!result.ok() && absl::SimpleAtoi(what, &process) && process > 0) {
    parameters = {{"pid", process}, {"all", all}};
    result = client.Call("queue_pair.why", parameters);
  }
  if (!result.ok()) return result;
  json connections = json::array();
  if (!parameters.contains("qpn")) {
    IBEMU_ASSIGN_OR_RETURN(json more,
                           client.Call("connection.why", parameters));
    connections = std::move(more[all ? "events" : "failures"]);
  }
  (*result)["connections"] = std::move(connections);
  if (process != 0 && IsEmpty(*result)) {
    return absl::NotFoundError(absl::StrFormat(
        "nothing is known of process %d: it has no queue pair and had none "
        "lately, no call of it was refused, and no MAD lost",
        process));
  }
  return result;
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
               incident["psn"].is_null()
                   ? ""
                   : absl::StrFormat("0x%x", incident["psn"].get<uint32_t>()),
               incident["text"].get<std::string>()});
  }
  return table.Text();
}

// The queue pairs in which something failed, a paragraph each; all if one was
// asked about.
std::vector<std::string> QueuePairTexts(const json& queue_pairs, bool all) {
  std::vector<std::string> texts;
  for (const json& queue_pair : queue_pairs) {
    const bool failed = !queue_pair["why"].is_null();
    if (!failed && !all) continue;
    texts.push_back(
        absl::StrCat(failed ? OneLine(queue_pair["why"].get<std::string>())
                            : "no work request has failed",
                     "\n\n", HistoryText(queue_pair)));
  }
  return texts;
}

// A line for each queue pair that had trouble, though no work request failed.
std::string TroublesText(const json& queue_pairs) {
  std::string text;
  for (const json& queue_pair : queue_pairs) {
    if (queue_pair["trouble"].is_null()) continue;
    absl::StrAppend(&text, OneLine(queue_pair["trouble"].get<std::string>()),
                    "\n");
  }
  return text;
}

// A line each, in the form of events.
std::string EventsText(const json& events) {
  std::string text;
  for (const json& event : events) {
    absl::StrAppend(&text, daemon::EventText(event), "\n");
  }
  return text;
}

// The events that MADs without an answer would be.
json MadEvents(const json& mads) {
  json events = json::array();
  for (const json& mad : mads) {
    events.push_back(
        {{"event", "mad"}, {"time_ns", mad["end_ns"]}, {"why", mad["why"]}});
  }
  return events;
}

// A line each: "node-1 process 12: CREATE_CQ was refused with EINVAL: cqe
// is 100: there may be 1 to 20 (2 times)".
std::string CallsText(const json& calls) {
  std::string text;
  for (const json& call : calls) {
    const auto count = call["count"].get<uint64_t>();
    absl::StrAppend(&text, OneLine(call["why"].get<std::string>()),
                    count == 1 ? "" : absl::StrCat(" (", count, " times)"),
                    "\n");
  }
  return text;
}

// A line each: "fault-1 acted 2 times: reg-mr nth 2-3 errno ENOMEM", "fault-1
// acted once, and was removed: create-qp errno EAGAIN".
std::string FaultsText(const json& faults) {
  std::string text;
  for (const json& fault : faults) {
    const auto acts = fault["acts"].get<uint64_t>();
    absl::StrAppend(&text, fault["name"].get<std::string>(), " acted ",
                    acts == 1 ? "once" : absl::StrCat(acts, " times"),
                    fault["removed"].get<bool>() ? ", and was removed: " : ": ",
                    fault["what"].get<std::string>(), "\n");
  }
  return text;
}

absl::Status Why(const WhyFlags& flags) {
  const bool one = daemon::ParseQueuePairName(flags.what).has_value();
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(flags.fabric));
  IBEMU_ASSIGN_OR_RETURN(const json result, Ask(client, flags.what, flags.all));
  if (flags.json) {
    Print(control::DumpForPeople(result));
    return absl::OkStatus();
  }
  std::vector<std::string> texts =
      QueuePairTexts(result["queue_pairs"], one || flags.all);
  const auto add = [&texts](std::string text) {
    if (!text.empty()) texts.push_back(std::move(text));
  };
  add(EventsText(MadEvents(result["mads"])));
  add(EventsText(result.value("connections", json::array())));
  add(CallsText(result["calls"]));
  if (texts.empty()) {
    texts.push_back(absl::StrCat("no work request of ", flags.what,
                                 " has failed: ", result["queue_pairs"].size(),
                                 " queue pairs\n"));
  }
  add(TroublesText(result["queue_pairs"]));
  add(FaultsText(result["faults"]));
  Print(absl::StrJoin(texts, "\n"));
  return absl::OkStatus();
}

// Those with this number, or all.
absl::StatusOr<std::vector<verbs::VendorError>> FindVendorErrors(
    const std::string& number) {
  if (number.empty()) {
    const auto all = verbs::VendorErrors();
    return std::vector<verbs::VendorError>(all.begin(), all.end());
  }
  const std::optional<uint32_t> value = daemon::ParseNumber(number);
  if (!value) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--vendor-err=", number, ": write a number, like 0x81 or 129"));
  }
  const std::optional<verbs::VendorError> found =
      verbs::FindVendorError(*value);
  if (!found) {
    return absl::NotFoundError(absl::StrFormat(
        "--vendor-err=%s: what 0x%x stands for is not known; without a number "
        "it lists what is",
        number, *value));
  }
  return std::vector<verbs::VendorError>{*found};
}

absl::Status ExplainVendorError(const WhyFlags& flags) {
  if (!flags.what.empty() && !flags.vendor_err->empty()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--vendor-err=", *flags.vendor_err,
                     " asks for no node: leave out ", flags.what));
  }
  IBEMU_ASSIGN_OR_RETURN(
      const std::vector<verbs::VendorError> errors,
      FindVendorErrors(absl::StrCat(*flags.vendor_err, flags.what)));
  Table table({"VENDOR_ERR", "DECIMAL", "STATUS", "SEEN IN", "CAUSE"});
  json list = json::array();
  for (const verbs::VendorError& error : errors) {
    const std::string status(verbs::wc_status::NameOf(error.status));
    table.Add({absl::StrFormat("0x%02x", error.value),
               absl::StrCat(error.value), status, std::string(error.report),
               std::string(error.cause)});
    list.push_back({{"vendor_err", error.value},
                    {"status", status},
                    {"cause", error.cause},
                    {"seen_in", error.report}});
  }
  Print(flags.json ? control::DumpForPeople(list) : table.Text());
  return absl::OkStatus();
}

}  // namespace

void AddWhy(CLI::App& app, Action& action) {
  CLI::App* why = app.add_subcommand("why");
  SetHelp(*why, kWhyHelp);
  const auto flags = std::make_shared<WhyFlags>();
  why->add_option("--fabric", flags->fabric);
  why->add_flag("--all", flags->all);
  why->add_flag("--json", flags->json);
  CLI::Option* const what = why->add_option("what", flags->what)->required();
  // With a space before it, the number counts as the word above.
  why->add_option_function<std::string>(
         "--vendor-err",
         [flags, what](const std::string& number) {
           flags->vendor_err = number;
           what->required(false);
         })
      ->expected(0, 1);
  OnUse(*why, action, "why", [flags] {
    return flags->vendor_err ? ExplainVendorError(*flags) : Why(*flags);
  });
}

}  // namespace ibemu::cli
