#include "cli/run/explanation.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/one_line.h"
#include "base/status_macros.h"
#include "daemon/events/event_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::cli {
namespace {

using nlohmann::json;

// The first kMax lines, and how many there are besides.
std::string TextOf(const std::vector<std::string>& lines,
                   std::string_view more) {
  std::string text;
  const size_t shown = std::min(lines.size(), Explanation::kMax);
  for (size_t i = 0; i < shown; ++i) {
    absl::StrAppend(&text, "ibemu run: ", lines[i], "\n");
  }
  if (lines.size() > shown) {
    absl::StrAppend(&text, "ibemu run: and ", lines.size() - shown, " more ",
                    Absl(more), "\n");
  }
  return text;
}

}  // namespace

absl::StatusOr<Explanation> Explanation::Begin(const std::string& socket,
                                               std::vector<std::string> hosts,
                                               Wanted wanted) {
  Explanation explanation(socket, std::move(hosts), wanted);
  IBEMU_ASSIGN_OR_RETURN(control::Client client,
                         control::Client::Connect(socket));
  for (const std::string& host : explanation.hosts_) {
    // Of what there is now only the time is taken.
    IBEMU_ASSIGN_OR_RETURN(const json answer,
                           client.Call("queue_pair.lint", {{"node", host}}));
    explanation.begin_ns_ = answer["now_ns"].get<int64_t>();
  }
  return explanation;
}

std::string Explanation::Text(bool command_failed) const {
  absl::StatusOr<control::Client> client = control::Client::Connect(socket_);
  if (!client.ok()) return "";
  std::string text;
  if (wanted_.failures) {
    text = TextOf(Failures(*client), "failures");
    if (text.empty() && command_failed) {
      text = TextOf(Troubles(*client), "queue pairs with trouble");
    }
  }
  if (wanted_.pitfalls) {
    absl::StrAppend(&text, TextOf(Pitfalls(*client), "pitfalls"));
  }
  return text;
}

std::vector<std::string> Explanation::Failures(control::Client& client) const {
  std::vector<std::string> lines;
  for (const std::string& host : hosts_) {
    const absl::StatusOr<json> answer =
        client.Call("queue_pair.why", {{"node", host}});
    if (!answer.ok()) continue;
    const auto add = [&](const json& one, const char* time) {
      if (one["why"].is_null() || one[time].get<int64_t>() < begin_ns_) return;
      lines.push_back(OneLine(one["why"].get<std::string>()));
    };
    for (const json& one : (*answer)["queue_pairs"]) add(one, "failed_ns");
    for (const json& one : (*answer)["mads"]) add(one, "end_ns");
    for (const json& one : (*answer)["calls"]) add(one, "end_ns");
    const absl::StatusOr<json> connections =
        client.Call("connection.why", {{"node", host}});
    if (!connections.ok()) continue;
    for (const json& event : (*connections)["failures"]) {
      if (event["time_ns"].get<int64_t>() < begin_ns_) continue;
      std::string line = daemon::EventWhat(event);
      // It is told to both ends.
      if (std::ranges::find(lines, line) != lines.end()) continue;
      lines.push_back(std::move(line));
    }
  }
  return lines;
}

std::vector<std::string> Explanation::Troubles(control::Client& client) const {
  std::vector<std::string> lines;
  for (const std::string& host : hosts_) {
    const absl::StatusOr<json> answer =
        client.Call("queue_pair.why", {{"node", host}});
    if (!answer.ok()) continue;
    for (const json& one : (*answer)["queue_pairs"]) {
      if (one["trouble"].is_null() ||
          one["last_ns"].get<int64_t>() < begin_ns_) {
        continue;
      }
      lines.push_back(OneLine(one["trouble"].get<std::string>()));
    }
  }
  return lines;
}

// What many queue pairs of a process have in common is told of the first one.
std::vector<std::string> Explanation::Pitfalls(control::Client& client) const {
  std::vector<std::string> lines;
  std::set<std::string> told;
  for (const std::string& host : hosts_) {
    const absl::StatusOr<json> answer = client.Call(
        "queue_pair.lint", {{"node", host}, {"since_ns", begin_ns_}});
    if (!answer.ok()) continue;
    for (const json& one : (*answer)["findings"]) {
      if (!told.insert(absl::StrCat(one["pid"].dump(), " ", host, " ",
                                    one["rule"].get<std::string>()))
               .second) {
        continue;
      }
      const std::string queue_pair =
          one["qpn"].is_null() ? ""
                               : absl::StrFormat("queue pair %#x of ",
                                                 one["qpn"].get<uint32_t>());
      lines.push_back(absl::StrFormat(
          "%s: %s %sprocess %d: %s", one["rule"].get<std::string>(),
          OneLine(one["node"].get<std::string>()), queue_pair,
          one["pid"].get<int64_t>(), one["what"].get<std::string>()));
    }
  }
  return lines;
}

}  // namespace ibemu::cli
