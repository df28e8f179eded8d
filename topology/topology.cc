#include "topology/topology.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "topology/topology_builder.h"

namespace ibemu::topology {
namespace {

// The order in which ibnetdiscover prints node types.
int Rank(mad::NodeType type) {
  switch (type) {
    case mad::NodeType::kSwitch:
      return 0;
    case mad::NodeType::kChannelAdapter:
      return 1;
    default:
      return 2;
  }
}

}  // namespace

Topology NormalizeTopology(Topology topology) {
  std::vector<uint32_t> order(topology.nodes.size());
  for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&topology](uint32_t i) {
    const NodeSpec& node = topology.nodes[i];
    return std::tuple(Rank(node.type), node.node_guid);
  });

  Topology normal;
  normal.nodes.reserve(order.size());
  std::vector<NodeId> new_id(order.size());
  for (const uint32_t old : order) {
    new_id[old] = NodeId{static_cast<uint32_t>(normal.nodes.size())};
    NodeSpec& node = normal.nodes.emplace_back(std::move(topology.nodes[old]));
    node.name = CanonicalName(node.type, node.node_guid);
    node.line = 0;
    if (node.system_image_guid == wire::Guid{}) {
      node.system_image_guid = node.node_guid;
    }
  }

  normal.links = std::move(topology.links);
  for (LinkSpec& link : normal.links) {
    link.a = new_id[static_cast<size_t>(link.a)];
    link.b = new_id[static_cast<size_t>(link.b)];
    if (std::tie(link.b, link.port_b) < std::tie(link.a, link.port_a)) {
      std::swap(link.a, link.b);
      std::swap(link.port_a, link.port_b);
    }
  }
  std::ranges::sort(normal.links, {}, [](const LinkSpec& link) {
    return std::tuple(link.a, link.port_a);
  });

  normal.addresses = std::move(topology.addresses);
  for (PortAddresses& port : normal.addresses) {
    port.node = new_id[static_cast<size_t>(port.node)];
  }
  std::ranges::sort(normal.addresses, {}, [](const PortAddresses& port) {
    return std::tuple(port.node, port.port);
  });
  return normal;
}

}  // namespace ibemu::topology
