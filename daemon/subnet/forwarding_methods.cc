#include "daemon/subnet/forwarding_methods.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::Node;
using fabric::NodePort;
using fabric::Subnet;
using nlohmann::json;

constexpr auto kLastUnicast = static_cast<unsigned>(wire::Lid::kLastUnicast);

// By LID: it is one of a port that is no switch's.
std::vector<bool> LidsOfHosts(const Subnet& subnet) {
  std::vector<bool> found(kLastUnicast + 1);
  for (const NodePort& port : subnet.ports()) {
    const auto lid = static_cast<unsigned>(port.info.lid);
    if (lid == 0 || subnet.node(port.node).is_switch()) continue;
    const unsigned end =
        std::min(lid + (1u << port.info.lmc), kLastUnicast + 1);
    for (unsigned own = lid; own < end; ++own) found[own] = true;
  }
  return found;
}

json DescribePeer(const Subnet& subnet, const NodePort& port) {
  if (port.peer == fabric::kNoPort) return {};
  const Node& peer = subnet.NodeOf(port.peer);
  return {{"node", peer.description},
          {"guid", GuidText(peer.node_guid)},
          {"port", subnet.port(port.peer).number},
          {"switch", peer.is_switch()}};
}

}  // namespace

void ForwardingMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("forwarding.show",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Show(parameters);
                 });
}

absl::StatusOr<json> ForwardingMethods::Show(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  const auto from =
      static_cast<unsigned>(parameters.Number("from", 1, 1, kLastUnicast));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const topology::NodeId id, fabric_.Find(name));
  const Subnet& subnet = fabric_.subnet();
  const Node& node = subnet.node(id);
  if (!node.is_switch()) {
    return absl::InvalidArgumentError(absl::StrCat(
        name, " is no switch: only switches have forwarding tables"));
  }
  const std::vector<bool> of_host = LidsOfHosts(subnet);
  const unsigned top =
      std::min<unsigned>(node.sw->info.linear_fdb_top, kLastUnicast);
  std::array<int, 256> lids{}, hosts{};
  json routes = json::array(), next;
  uint8_t last = fabric::LinearTable::kNoPort;
  for (unsigned lid = 1; lid <= top; ++lid) {
    const uint8_t port = node.sw->linear.Lookup(static_cast<wire::Lid>(lid));
    const bool same = port == std::exchange(last, port) && lid > from;
    if (port == fabric::LinearTable::kNoPort) continue;
    ++lids[port];
    if (of_host[lid]) ++hosts[port];
    if (lid < from || !next.is_null()) continue;
    if (same) {
      routes.back()[1] = lid;
    } else if (routes.size() == kPage) {
      next = lid;
    } else {
      routes.push_back({lid, lid, port});
    }
  }
  json ports = json::array();
  for (const NodePort& port : subnet.PortsOf(node)) {
    const bool has_cable = port.peer != fabric::kNoPort;
    if (!has_cable && lids[port.number] == 0) continue;
    ports.push_back({{"port", port.number},
                     {"peer", DescribePeer(subnet, port)},
                     {"lids", lids[port.number]},
                     {"hosts", hosts[port.number]}});
  }
  return json{{"ports", std::move(ports)},
              {"routes", std::move(routes)},
              {"next", std::move(next)}};
}

}  // namespace ibemu::daemon
