#include "daemon/subnet/health_methods.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/subnet/port_errors.h"
#include "daemon/words/port_text.h"
#include "fabric/agents/pma_counters.h"
#include "fabric/history/sweep_history.h"
#include "fabric/routing/path_rate.h"
#include "fabric/subnet/link_rate.h"
#include "fabric/subnet/subnet.h"
#include "mad/wire/port_codes.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::NodePort;
using fabric::Subnet;
using fabric::SweepHistory;
using nlohmann::json;

json DescribePlace(const Subnet& subnet, const NodePort& port) {
  const fabric::Node& node = subnet.node(port.node);
  return {{"node", node.description},
          {"guid", GuidText(node.node_guid)},
          {"port", port.number}};
}

json DescribeErrors(const Subnet& subnet, const NodePort& port,
                    uint64_t total) {
  json result = DescribePlace(subnet, port);
  json counters = json::array();
  for (const fabric::NamedCounter& named : fabric::NamedCounters()) {
    if (!CountsErrors(named.counter)) continue;
    const uint64_t value = fabric::ReadCounter(port, named.counter);
    if (value != 0) {
      counters.push_back({{"name", named.name}, {"value", value}});
    }
  }
  result["total"] = total;
  result["counters"] = std::move(counters);
  return result;
}

// What the port would have if the link came up with all that both ends support.
mad::PortInfo AtBest(const NodePort& port, const NodePort& peer) {
  const auto enabled = [](mad::PortInfo info) {
    info.link_width_enabled = info.link_width_supported;
    info.link_speed_enabled = info.link_speed_supported;
    info.link_speed_ext_enabled = info.link_speed_ext_supported;
    info.link_speed_ext_enabled2 = info.link_speed_ext_supported2;
    return info;
  };
  mad::PortInfo best = enabled(port.info);
  const fabric::NegotiatedRate rate =
      fabric::Negotiate(best, enabled(peer.info));
  best.link_width_active = rate.width;
  best.link_speed_active = rate.speed;
  best.link_speed_ext_active = rate.speed_ext;
  best.link_speed_ext_active2 = rate.speed_ext2;
  return best;
}

json DescribeSweep(const SweepHistory& sweeps,
                   const SweepHistory::Sweep& sweep) {
  return {{"under_way", sweeps.IsUnderWay(sweep)},
          {"seconds", absl::ToDoubleSeconds(sweep.last - sweep.began)},
          {"ago", absl::ToDoubleSeconds(sweeps.Since(sweep))},
          {"gets", sweep.gets},
          {"sets", sweep.sets}};
}

// What is wrong, as parts of a sentence.
json Complaints(const json& health) {
  json all = json::array();
  const auto add = [&all](const json& number, const char* one,
                          const char* many) {
    const auto count = number.get<uint64_t>();
    if (count != 0) {
      all.push_back(absl::StrCat(count, " ", count == 1 ? one : many));
    }
  };
  const json& links = health["links"];
  add(links["cut"], "link is cut", "links are cut");
  add(links["down"], "link is down", "links are down");
  add(links["init"], "link is up and not active",
      "links are up and not active");
  add(health["slow_count"], "link is slower than it could be",
      "links are slower than they could be");
  add(health["error_count"], "port counts errors", "ports count errors");
  return all;
}

}  // namespace

void HealthMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("health",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Health(parameters);
                 });
}

absl::StatusOr<json> HealthMethods::Health(
    control::Parameters& parameters) const {
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  const Subnet& subnet = fabric_.subnet();
  int active = 0, init = 0, down = 0, cut = 0;
  size_t slow_count = 0;
  json slow = json::array(), managers = json::array();
  std::vector<std::pair<uint64_t, const NodePort*>> errors;
  for (const NodePort& port : subnet.ports()) {
    if (const uint64_t sum = SumOfErrors(port); sum != 0) {
      errors.emplace_back(sum, &port);
    }
    if ((port.info.capability_mask & mad::capability::kIsSm) != 0) {
      json manager = DescribePlace(subnet, port);
      manager["lid"] = static_cast<unsigned>(port.info.lid);
      manager["master"] = port.info.lid != wire::Lid::kUnassigned &&
                          port.info.master_sm_lid == port.info.lid;
      if (const auto* sweep = fabric_.sweeps().Last(subnet.id_of(port))) {
        manager["sweep"] = DescribeSweep(fabric_.sweeps(), *sweep);
      }
      managers.push_back(std::move(manager));
    }
    if (port.peer == fabric::kNoPort || subnet.id_of(port) > port.peer) {
      continue;
    }
    const NodePort& peer = subnet.port(port.peer);
    if (!port.cable_up || !peer.cable_up) {
      ++cut;
      continue;
    }
    if (!port.IsUp() || !peer.IsUp()) {
      ++down;
      continue;
    }
    ++(port.IsActive() && peer.IsActive() ? active : init);
    const mad::PortInfo best = AtBest(port, peer);
    if (fabric::LinkBandwidth(port.info) >= fabric::LinkBandwidth(best)) {
      continue;
    }
    if (++slow_count > kMaxSlow) continue;
    json link = DescribeLink(subnet, port);
    link["could_be"] = RateText(best);
    slow.push_back(std::move(link));
  }
  const size_t listed = std::min(errors.size(), kMaxErrors);
  // Of those with as many, the first one.
  std::ranges::partial_sort(
      errors, errors.begin() + static_cast<ptrdiff_t>(listed),
      [](const auto& one, const auto& other) {
        return one.first != other.first ? one.first > other.first
                                        : one.second < other.second;
      });
  json worst = json::array();
  for (const auto& [total, port] : std::span(errors).first(listed)) {
    worst.push_back(DescribeErrors(subnet, *port, total));
  }
  json health = {
      {"links",
       {{"active", active}, {"init", init}, {"down", down}, {"cut", cut}}},
      {"slow", std::move(slow)},
      {"slow_count", slow_count},
      {"errors", std::move(worst)},
      {"error_count", errors.size()},
      {"managers", std::move(managers)}};
  health["wrong"] = Complaints(health);
  return health;
}

}  // namespace ibemu::daemon
