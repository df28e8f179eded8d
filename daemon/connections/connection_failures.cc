#include "daemon/connections/connection_failures.h"

#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace ibemu::daemon {

using nlohmann::json;

void ConnectionFailures::Add(const json& event, std::optional<AdapterId> here,
                             std::optional<AdapterId> there) {
  if (there == here) there.reset();
  for (const std::optional<AdapterId>& end : {here, there}) {
    if (!end) continue;
    std::deque<json>& failures = failures_[*end];
    if (failures.size() == kMost) failures.pop_front();
    failures.push_back(event);
  }
}

void ConnectionFailures::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("connection.why",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Why(parameters);
                 });
}

absl::StatusOr<json> ConnectionFailures::Why(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const std::vector<AdapterId> wanted,
                         adapters_.FindHost(name));
  json all = json::array();
  for (const AdapterId adapter : wanted) {
    const auto found = failures_.find(adapter);
    if (found == failures_.end()) continue;
    for (const json& event : found->second) all.push_back(event);
  }
  return json{{"failures", std::move(all)}};
}

}  // namespace ibemu::daemon
