#include "fabric/sm/multicast_router.h"

#include <limits>

namespace ibemu::fabric {

using wire::Lid;

void MulticastRouter::SetMembers(Lid mlid, MlidMembers members) {
  if (members.receivers.empty() && members.senders.empty()) {
    members_.erase(mlid);
  } else {
    members_[mlid] = std::move(members);
  }
}

void MulticastRouter::RouteAll() {
  for (const auto& [mlid, members] : members_) Route(mlid);
}

void MulticastRouter::TakeOver(const std::vector<topology::NodeId>& switches) {
  for (const topology::NodeId id : switches) {
    SwitchState& state = *subnet_.node(id).sw;
    state.multicast = MulticastTable();
    state.info.multicast_fdb_top = 0;  // no limit
  }
  routed_.clear();
  RouteAll();
}

bool MulticastRouter::FindSwitch(PortId member, topology::NodeId& node,
                                 int& port) const {
  const NodePort& end = subnet_.port(member);
  if (subnet_.node(end.node).is_switch()) {
    node = end.node;
    port = 0;
    return subnet_.node(node).up;
  }
  if (end.peer == kNoPort || !end.IsUp()) return false;
  const NodePort& peer = subnet_.port(end.peer);
  node = peer.node;
  port = peer.number;
  return subnet_.node(node).is_switch();
}

// Returns all switches that the root reaches, each after its parent.
std::vector<MulticastRouter::Branch> MulticastRouter::Grow(
    topology::NodeId root, uint16_t index) const {
  const auto holds = [&](const Node& node) {
    return node.is_switch() && index < node.sw->info.multicast_fdb_cap;
  };
  std::vector<Branch> tree;
  if (!holds(subnet_.node(root))) return tree;
  std::vector<bool> seen(subnet_.nodes().size());
  seen[static_cast<size_t>(root)] = true;
  tree.push_back({.node = root});
  for (Place at = 0; at < tree.size(); ++at) {
    for (const NodePort& port :
         std::as_const(subnet_).PortsOf(subnet_.node(tree[at].node))) {
      if (port.number == 0 || port.peer == kNoPort || !port.IsUp()) continue;
      const NodePort& peer = subnet_.port(port.peer);
      if (seen[static_cast<size_t>(peer.node)] ||
          !holds(subnet_.node(peer.node))) {
        continue;
      }
      seen[static_cast<size_t>(peer.node)] = true;
      tree.push_back({.node = peer.node,
                      .parent = at,
                      .port_up = peer.number,
                      .port_down = port.number});
    }
  }
  return tree;
}

void MulticastRouter::Route(Lid mlid) {
  Clear(mlid);
  const auto found = members_.find(mlid);
  if (found == members_.end()) return;
  const MlidMembers& members = found->second;

  topology::NodeId node{};
  int port = 0;
  std::vector<Branch> tree;
  for (const auto* list : {&members.receivers, &members.senders}) {
    for (const PortId member : *list) {
      if (tree.empty() && FindSwitch(member, node, port)) {
        tree = Grow(node, static_cast<uint16_t>(mlid) -
                              static_cast<uint16_t>(Lid::kFirstMulticast));
      }
    }
  }
  if (tree.empty()) return;

  constexpr Place kNowhere = std::numeric_limits<Place>::max();
  std::vector<Place> place_of(subnet_.nodes().size(), kNowhere);
  for (Place at = 0; at < tree.size(); ++at) {
    place_of[static_cast<size_t>(tree[at].node)] = at;
  }
  for (const bool receives : {true, false}) {
    for (const PortId member : receives ? members.receivers : members.senders) {
      if (!FindSwitch(member, node, port)) continue;
      const Place at = place_of[static_cast<size_t>(node)];
      if (at == kNowhere) continue;
      tree[at].has_members = true;
      if (!receives) continue;
      ++tree[at].receivers;
      Set(mlid, node, port);
    }
  }
  for (Place at = static_cast<Place>(tree.size()) - 1; at > 0; --at) {
    Branch& parent = tree[tree[at].parent];
    parent.receivers += tree[at].receivers;
    parent.has_members |= tree[at].has_members;
  }
  const uint32_t all = tree[0].receivers;
  for (Place at = 1; at < tree.size(); ++at) {
    const Branch& branch = tree[at];
    if (!branch.has_members) continue;
    if (branch.receivers != 0) {
      Set(mlid, tree[branch.parent].node, branch.port_down);
    }
    if (branch.receivers != all) Set(mlid, branch.node, branch.port_up);
  }
}

void MulticastRouter::Clear(Lid mlid) {
  const auto found = routed_.find(mlid);
  if (found == routed_.end()) return;
  for (const auto& [node, port] : found->second) {
    subnet_.node(node).sw->multicast.Set(mlid, port, false);
  }
  routed_.erase(found);
}

void MulticastRouter::Set(Lid mlid, topology::NodeId node, int port) {
  subnet_.node(node).sw->multicast.Set(mlid, port, true);
  routed_[mlid].emplace_back(node, port);
}

}  // namespace ibemu::fabric
