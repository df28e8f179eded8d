#include "daemon/connections/connection_history.h"

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
    if (events.size() == kMost) events.pop_front();
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
  const bool all = parameters.Flag("all", false);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> wanted,
                         adapters_.FindHost(name));
  std::map<uint64_t, json> events;  // an event is kept with both of its ends
  const auto add = [&events, &wanted](const auto& kept) {
    for (const AdapterId adapter : wanted) {
      const auto found = kept.find(adapter);
      if (found == kept.end()) continue;
      events.insert(found->second.begin(), found->second.end());
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
