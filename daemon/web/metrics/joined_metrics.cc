#include "daemon/web/metrics/joined_metrics.h"

#include <vector>

#include "absl/time/time.h"

namespace ibemu::daemon {

MetricFamilies JoinedMetrics(const std::vector<JoinedNode>& nodes) {
  const auto family = [](const char* name, const char* help) {
    return MakeFamily(name, help, prometheus::MetricType::Gauge);
  };
  auto round_trips = family("ibemu_joined_host_round_trip_seconds",
                            "How long a message took there and back");
  auto behind = family("ibemu_joined_host_behind_seconds",
                       "For how long an answer has been missing");
  auto leases =
      family("ibemu_joined_host_leases", "Leases by which it sends directly");
  auto moved = family("ibemu_joined_host_packet_connection",
                      "Whether its packets have a connection of their own");
  for (const JoinedNode& node : nodes) {
    const MetricLabels labels = {{"node", node.node}, {"peer", node.peer}};
    if (node.round_trip) {
      AddSample(round_trips, absl::ToDoubleSeconds(*node.round_trip), labels);
    }
    AddSample(behind, absl::ToDoubleSeconds(node.behind), labels);
    AddSample(leases, static_cast<double>(node.leases), labels);
    AddSample(moved, node.has_packet_connection ? 1 : 0, labels);
  }
  MetricFamilies all = {round_trips, behind, leases, moved};
  std::erase_if(all, [](const auto& each) { return each.metric.empty(); });
  return all;
}

}  // namespace ibemu::daemon
