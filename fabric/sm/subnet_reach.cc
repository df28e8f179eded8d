#include "fabric/sm/subnet_reach.h"

#include <algorithm>

#include "mad/wire/smp.h"

namespace ibemu::fabric {

SubnetReach::SubnetReach(const Subnet& subnet, PortId from)
    : subnet_(&subnet), from_(from), entries_(subnet.ports().size()) {
  if (!subnet.NodeOf(from).up) return;
  std::vector<PortId> order{from};
  entries_[static_cast<size_t>(from)].reached = true;
  const auto leave = [&](const NodePort& port) {
    if (port.number == 0 || port.peer == kNoPort || !port.IsUp()) return;
    const PortId end = subnet.management_port(port.peer);
    Entry& entry = entries_[static_cast<size_t>(end)];
    if (entry.reached) return;
    entry = {.ingress = port.peer, .reached = true};
    order.push_back(end);
  };
  for (size_t i = 0; i < order.size(); ++i) {
    const Node& node = subnet.NodeOf(order[i]);
    if (node.is_switch()) {
      for (const NodePort& port : subnet.PortsOf(node)) leave(port);
    } else if (order[i] == from) {
      leave(subnet.port(from));
    }
  }
  std::sort(order.begin(), order.end());
  for (const bool switches : {false, true}) {
    std::copy_if(
        order.begin(), order.end(), std::back_inserter(ends_),
        [&](PortId end) { return subnet.NodeOf(end).is_switch() == switches; });
  }
}

bool SubnetReach::Contains(PortId end_port) const {
  const auto index = static_cast<size_t>(end_port);
  return index < entries_.size() && entries_[index].reached;
}

std::optional<std::vector<uint8_t>> SubnetReach::PathTo(PortId end_port) const {
  if (!Contains(end_port)) return std::nullopt;
  std::vector<uint8_t> path;
  for (PortId at = end_port; at != from_;) {
    const PortId ingress = entries_[static_cast<size_t>(at)].ingress;
    const PortId egress = subnet_->port(ingress).peer;
    // A cable was moved since this object was made, or the route is too long.
    if (egress == kNoPort || path.size() == mad::kSmpMaxHops) {
      return std::nullopt;
    }
    path.push_back(subnet_->port(egress).number);
    at = subnet_->management_port(egress);
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace ibemu::fabric
