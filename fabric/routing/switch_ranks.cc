#include "fabric/routing/switch_ranks.h"

namespace ibemu::fabric {

std::vector<uint16_t> RankSwitches(const Subnet& subnet) {
  constexpr uint16_t kUnreached = 0xffff;
  std::vector<uint16_t> ranks(subnet.nodes().size(), kUnreached);
  std::vector<topology::NodeId> order;
  const auto rank = [&](topology::NodeId id) -> uint16_t& {
    return ranks[static_cast<size_t>(id)];
  };
  for (const NodePort& port : subnet.ports()) {
    if (port.peer == kNoPort || !subnet.node(port.node).is_switch() ||
        subnet.NodeOf(port.peer).is_switch() || rank(port.node) != kUnreached) {
      continue;
    }
    rank(port.node) = 0;
    order.push_back(port.node);
  }
  for (size_t i = 0; i < order.size(); ++i) {
    const topology::NodeId at = order[i];
    for (const NodePort& port : subnet.PortsOf(subnet.node(at))) {
      if (port.peer == kNoPort) continue;
      const topology::NodeId next = subnet.port(port.peer).node;
      if (!subnet.node(next).is_switch() || next == at) continue;
      if (rank(next) == rank(at)) return {};
      if (rank(next) != kUnreached) continue;
      rank(next) = static_cast<uint16_t>(rank(at) + 1);
      order.push_back(next);
    }
  }
  for (const Node& node : subnet.nodes()) {
    if (!node.is_switch()) continue;
    if (rank(subnet.port(node.first_port).node) == kUnreached) return {};
  }
  return ranks;
}

}  // namespace ibemu::fabric
