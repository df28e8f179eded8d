#include "daemon/connections/connection_failures.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"

namespace ibemu::daemon {

using nlohmann::json;

void ConnectionFailures::Add(json event) {
  if (failures_.size() == kMost) failures_.pop_front();
  failures_.push_back(std::move(event));
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
  std::vector<std::string> nodes;
  for (const AdapterId adapter : wanted) {
    nodes.push_back(adapters_.description(adapter));
  }
  json failures = json::array();
  for (const json& event : failures_) {
    const bool concerned = std::ranges::any_of(nodes, [&](const auto& node) {
      return event["from"]["node"] == node || event["to"]["node"] == node;
    });
    if (concerned) failures.push_back(event);
  }
  return json{{"failures", std::move(failures)}};
}

}  // namespace ibemu::daemon
