#include "daemon/subnet/fabric_methods.h"

#include <algorithm>
#include <span>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/live_topology.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"
#include "topology/ibnetdiscover_writer.h"
#include "topology/rate_text.h"

namespace ibemu::daemon {
namespace {

using fabric::Node;
using fabric::NodePort;
using fabric::Subnet;
using nlohmann::json;
using topology::NodeId;

constexpr int64_t kLongestRevert = 366LL * 24 * 3600 * 1000;  // milliseconds

// Returns true for one of the two ports of a cable: the one whose id is lower.
bool BeginsLink(const Subnet& subnet, const NodePort& port) {
  return port.peer != fabric::kNoPort && subnet.id_of(port) < port.peer;
}

json DescribeEnd(const Subnet& subnet, const NodePort& port) {
  const Node& node = subnet.node(port.node);
  return {
      {"node", node.description},
      {"guid", GuidText(node.node_guid)},
      {"port", port.number},
      {"lid",
       static_cast<unsigned>(
           subnet.port(subnet.management_port(subnet.id_of(port))).info.lid)}};
}

}  // namespace

json DescribeNode(const Subnet& subnet, const Node& node) {
  json ports = json::array();
  int linked = 0;
  for (const NodePort& port : subnet.PortsOf(node)) {
    const bool external = port.number != 0;
    if (external && port.IsUp()) ++linked;
    // A switch is addressed by its port 0, so its other ports are left out.
    if (node.is_switch() && external) continue;
    ports.push_back({{"port", port.number},
                     {"guid", GuidText(port.guid)},
                     {"lid", static_cast<unsigned>(port.info.lid)},
                     {"state", PortStateText(port.info.port_state)}});
  }
  return {{"description", node.description},
          {"name", node.name},
          {"type", NodeTypeText(node.type)},
          {"guid", GuidText(node.node_guid)},
          {"up", node.up},
          {"plugged", node.plugged},
          {"remote", node.remote},
          {"port_count", node.port_count},
          {"ports_linked", linked},
          {"ports", std::move(ports)}};
}

json DescribeLink(const Subnet& subnet, const NodePort& port) {
  const NodePort& peer = subnet.port(port.peer);
  const auto& info = port.info;
  const topology::LinkRate rate{.width = info.link_width_active,
                                .speed = info.link_speed_active,
                                .speed_ext = info.link_speed_ext_active,
                                .speed_ext2 = info.link_speed_ext_active2};
  const bool up = port.IsUp() && peer.IsUp();
  return {{"a", DescribeEnd(subnet, port)},
          {"b", DescribeEnd(subnet, peer)},
          {"state",
           PortStateText(std::min(port.info.port_state, peer.info.port_state))},
          {"cut", !port.cable_up || !peer.cable_up},
          {"rate", up ? json(topology::LinkRateName(rate)) : json()}};
}

FabricMethods::FabricMethods(Timers& timers, fabric::Fabric& fabric)
    : timers_(timers), fabric_(fabric) {}

void FabricMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("nodes",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Nodes(parameters);
                 });
  dispatcher.Add("links",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Links(parameters);
                 });
  dispatcher.Add("link.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetLink(parameters);
                 });
  dispatcher.Add("node.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetNode(parameters);
                 });
  dispatcher.Add(
      "topology.text",
      [this](control::Parameters& parameters,
             control::Caller&) -> absl::StatusOr<json> {
        IBEMU_RETURN_IF_ERROR(parameters.Finish());
        return json{{"text", topology::FormatIbnetdiscover(
                                 fabric::LiveTopology(fabric_.subnet()))}};
      });
}

json FabricMethods::Summary() const {
  const Subnet& subnet = fabric_.subnet();
  int counts[3] = {};
  for (const Node& node : subnet.nodes()) {
    if (node.is_beyond) continue;
    ++counts[node.is_switch()                      ? 1
             : node.type == mad::NodeType::kRouter ? 2
                                                   : 0];
  }
  int links = 0;
  int links_up = 0;
  for (const NodePort& port : subnet.ports()) {
    if (!BeginsLink(subnet, port)) continue;
    ++links;
    if (port.IsUp()) ++links_up;
  }
  return {{"cas", counts[0]},
          {"switches", counts[1]},
          {"routers", counts[2]},
          {"links", links},
          {"links_up", links_up}};
}

absl::StatusOr<json> FabricMethods::Nodes(
    control::Parameters& parameters) const {
  const Subnet& subnet = fabric_.subnet();
  const auto total = static_cast<int64_t>(subnet.nodes().size());
  const int64_t from = parameters.Number("from", 0, 0, total);
  const int64_t limit = parameters.Number("limit", kPage, 1, kPage);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  json nodes = json::array();
  for (int64_t i = from; i < std::min(total, from + limit); ++i) {
    nodes.push_back(
        DescribeNode(subnet, subnet.nodes()[static_cast<size_t>(i)]));
  }
  return json{{"total", total}, {"nodes", std::move(nodes)}};
}

// A page is a range of ports here: "next" is where the next page begins.
absl::StatusOr<json> FabricMethods::Links(
    control::Parameters& parameters) const {
  const Subnet& subnet = fabric_.subnet();
  const auto total = static_cast<int64_t>(subnet.ports().size());
  int64_t at = parameters.Number("from", 0, 0, total);
  const int64_t limit = parameters.Number("limit", kPage, 1, kPage);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  json links = json::array();
  for (; at < total && static_cast<int64_t>(links.size()) < limit; ++at) {
    const NodePort& port = subnet.ports()[static_cast<size_t>(at)];
    if (BeginsLink(subnet, port)) links.push_back(DescribeLink(subnet, port));
  }
  return json{{"links", std::move(links)},
              {"next", at < total ? json(at) : json()}};
}

absl::StatusOr<json> FabricMethods::SetLink(control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const auto port =
      static_cast<int>(parameters.Number("port", 0, 0, topology::kMaxPorts));
  const bool up = parameters.Flag("up", true);
  const int64_t milliseconds =
      parameters.Number("for_ms", 0, 0, kLongestRevert);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
  IBEMU_RETURN_IF_ERROR(fabric_.SetLink(node, port, up));

  if (const auto pending = reverts_.extract({node, port})) {
    timers_.Cancel(pending.mapped().timer);
    ++reverts_version_;
  }
  if (milliseconds > 0) {
    Revert({.node = node,
            .port = port,
            .up = !up,
            .at = timers_.Now() + absl::Milliseconds(milliseconds)});
  }
  return json{{"up", up}};
}

void FabricMethods::Revert(const LinkRevert& revert) {
  ++reverts_version_;
  const auto done = [this, node = revert.node, port = revert.port,
                     up = revert.up] {
    ++reverts_version_;
    reverts_.erase({node, port});
    // The port can't be missing, since it was there when the timer was set; its
    // cable may.
    fabric_.SetLink(node, port, up).IgnoreError();
  };
  reverts_[{revert.node, revert.port}] = {
      .timer = timers_.RunAt(revert.at, done),
      .up = revert.up,
      .at = revert.at};
}

std::vector<LinkRevert> FabricMethods::Reverts() const {
  std::vector<LinkRevert> all;
  for (const auto& [place, pending] : reverts_) {
    all.push_back({.node = place.first,
                   .port = place.second,
                   .up = pending.up,
                   .at = pending.at});
  }
  return all;
}

absl::StatusOr<json> FabricMethods::SetNode(control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const bool up = parameters.Flag("up", true);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
  fabric_.SetNode(node, up);
  return json{{"up", up}};
}

}  // namespace ibemu::daemon
