#include "daemon/connections/connection_history.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace ibemu::daemon {

using nlohmann::json;

void ConnectionHistory::Add(const json& event, bool failed,
                            std::optional<AdapterId> here,
                            std::optional<AdapterId> there) {
  if (there == here) there.reset();
  ++last_;
  for (const std::optional<AdapterId>& end : {here, there}) {
    if (!end) continue;
    Events& events = (failed ? failures_ : others_)[*end];
    if (events.size() == kMax) events.pop_front();
    events.emplace_back(last_, event);
  }
}

void ConnectionHistory::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("connection.why",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Why(parameters);
                 });
}

absl::StatusOr<json> ConnectionHistory::Why(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const int64_t process =
      parameters.Number("pid", 0, 1, std::numeric_limits<int64_t>::max());
  const bool all = parameters.Flag("all", false);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (process != 0) {
    if (!name.empty()) {
      return absl::InvalidArgumentError(
          "pid goes without node: it is of all nodes");
    }
    return Describe(all, [process](AdapterId, const json& event) {
      return event.value("pid", json()) == process;
    });
  }
  IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> hosts,
                         adapters_.FindHost(name));
  return Describe(all, [&hosts](AdapterId adapter, const json&) {
    return std::ranges::find(hosts, adapter) != hosts.end();
  });
}

json ConnectionHistory::Describe(
    bool all, absl::FunctionRef<bool(AdapterId, const json&)> wanted) const {
  std::map<uint64_t, json> events;  // an event is kept with both of its ends
  const auto add = [&](const std::map<AdapterId, Events>& kept) {
    for (const auto& [adapter, theirs] : kept) {
      for (const auto& [number, event] : theirs) {
        if (wanted(adapter, event)) events.emplace(number, event);
      }
    }
  };
  const auto list = [&events] {
    json in_order = json::array();
    for (const auto& [number, event] : events) in_order.push_back(event);
    return in_order;
  };
  add(failures_);
  json told = {{"failures", list()}};
  if (!all) return told;
  add(others_);
  told["events"] = list();
  return told;
}

}  // namespace ibemu::daemon
