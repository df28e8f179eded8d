#include "fabric/sa/directory.h"

#include <algorithm>

namespace ibemu::fabric {
namespace {

constexpr size_t kLids = static_cast<size_t>(wire::Lid::kFirstMulticast);

}  // namespace

void Directory::Explore(PortId manager) {
  Forget();
  by_lid_.assign(kLids, kNoPort);
  Reach(manager);
  for (const Node& node : subnet_.nodes()) {
    const size_t index = static_cast<size_t>(&node - subnet_.nodes().data());
    if (!reached_[index]) continue;
    if (node.is_switch()) {
      Add(node.first_port);
      continue;
    }
    for (const NodePort& port : subnet_.PortsOf(node)) {
      if (port.IsUp()) Add(subnet_.id_of(port));
    }
  }
}

void Directory::Forget() {
  end_ports_.clear();
  by_lid_.clear();
  by_guid_.clear();
}

void Directory::Reach(PortId manager) {
  reached_.assign(subnet_.nodes().size(), false);
  std::vector<topology::NodeId> open;
  const auto enter = [&](topology::NodeId node) {
    if (reached_[static_cast<size_t>(node)] || !subnet_.node(node).up) return;
    reached_[static_cast<size_t>(node)] = true;
    open.push_back(node);
  };
  enter(subnet_.port(manager).node);
  while (!open.empty()) {
    const topology::NodeId id = open.back();
    open.pop_back();
    const Node& node = subnet_.node(id);
    // Adapters do not forward packets.  If the manager is on an adapter, only
    // its own port leads on.
    if (!node.is_switch() && id != subnet_.port(manager).node) continue;
    for (const NodePort& port : subnet_.PortsOf(node)) {
      if (port.peer == kNoPort || !port.IsUp() || port.number == 0) continue;
      if (!node.is_switch() && subnet_.id_of(port) != manager) continue;
      enter(subnet_.port(port.peer).node);
    }
  }
}

void Directory::Add(PortId id) {
  const NodePort& port = subnet_.port(id);
  if (!wire::IsUnicast(port.info.lid)) return;
  end_ports_.push_back(id);
  const auto base = static_cast<size_t>(port.info.lid);
  const size_t end = std::min(base + (size_t{1} << port.info.lmc), kLids);
  std::fill(by_lid_.begin() + static_cast<ptrdiff_t>(base),
            by_lid_.begin() + static_cast<ptrdiff_t>(end), id);
  by_guid_.try_emplace(port.GuidAt(0), id);
  if (!port.tables || port.tables->guids.empty()) return;
  for (int i = 1; i < kGuidTableEntries; ++i) {
    if (port.GuidAt(i) != 0) by_guid_.try_emplace(port.GuidAt(i), id);
  }
}

std::optional<PortId> Directory::FindLid(wire::Lid lid) const {
  const auto index = static_cast<size_t>(lid);
  if (index >= by_lid_.size() || by_lid_[index] == kNoPort) return std::nullopt;
  return by_lid_[index];
}

std::optional<PortId> Directory::FindGuid(uint64_t guid) const {
  const auto found = by_guid_.find(guid);
  if (found == by_guid_.end()) return std::nullopt;
  return found->second;
}

std::optional<PortId> Directory::FindGid(const wire::Gid& gid) const {
  const std::optional<PortId> port = FindGuid(gid.interface_id);
  if (!port || (gid.prefix != wire::kDefaultGidPrefix &&
                gid.prefix != subnet_.port(*port).info.gid_prefix)) {
    return std::nullopt;
  }
  return port;
}

wire::Lid Directory::LidOf(PortId port) const {
  return subnet_.port(subnet_.management_port(port)).info.lid;
}

wire::Gid Directory::GidOf(PortId port) const {
  const NodePort& end = subnet_.port(subnet_.management_port(port));
  return {.prefix = end.info.gid_prefix, .interface_id = end.GuidAt(0)};
}

}  // namespace ibemu::fabric
