#include "fabric/routing/static_sm.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "fabric/routing/min_hop_router.h"

namespace ibemu::fabric {
namespace {

// Returns the ports that get a LID: those of hosts and routers in the order of
// the nodes, then port 0 of each switch.
std::vector<PortId> EndPorts(const Subnet& subnet) {
  std::vector<PortId> ends;
  for (const NodePort& port : subnet.ports()) {
    if (!subnet.node(port.node).is_switch() && port.IsUp()) {
      ends.push_back(subnet.id_of(port));
    }
  }
  for (const Node& node : subnet.nodes()) {
    if (node.is_switch() && node.up) ends.push_back(node.first_port);
  }
  return ends;
}

}  // namespace

absl::Status CheckLids(size_t ports) {
  constexpr auto kUnicastLids = static_cast<size_t>(wire::Lid::kLastUnicast);
  if (ports <= kUnicastLids) return absl::OkStatus();
  return absl::ResourceExhaustedError(absl::StrFormat(
      "the topology needs %d LIDs, a subnet has %d", ports, kUnicastLids));
}

void SetUpLink(const Subnet& subnet, NodePort& port) {
  if (port.peer == kNoPort || port.number == 0) return;
  mad::PortInfo& info = port.info;
  const mad::PortInfo& peer = subnet.port(port.peer).info;
  info.neighbor_mtu = std::min(info.mtu_cap, peer.mtu_cap);
  info.operational_vls = std::min(info.vl_cap, peer.vl_cap);
  port.has_usual_weights = true;
}

absl::Status ConfigureSubnet(Subnet& subnet) {
  const std::vector<PortId> ends = EndPorts(subnet);
  IBEMU_RETURN_IF_ERROR(CheckLids(ends.size()));
  uint16_t lid = 0;
  for (const PortId id : ends) {
    mad::PortInfo& info = subnet.port(id).info;
    info.lid = wire::Lid{++lid};
    info.lmc = 0;
  }
  std::vector<topology::NodeId> switches;
  for (const PortId id : ends) {
    if (subnet.NodeOf(id).is_switch()) switches.push_back(subnet.port(id).node);
  }
  MinHopRouter(subnet, switches).Route(wire::Lid{lid});
  for (Node& node : subnet.nodes()) {
    if (!node.is_switch()) continue;
    node.sw->info.linear_fdb_top = lid;
    node.sw->info.port_state_change = false;
  }
  for (NodePort& port : subnet.ports()) {
    if (!port.IsUp()) continue;
    SetUpLink(subnet, port);
    port.info.port_state = mad::PortState::kActive;
  }
  return absl::OkStatus();
}

absl::Status StaticSm::Configure() {
  absl::Status status = ConfigureSubnet(subnet_);
  lids_.clear();
  for (const NodePort& port : std::as_const(subnet_).ports()) {
    lids_.push_back(port.info.lid);
  }
  return status;
}

bool StaticSm::IsOurs(const Node& node) const {
  const auto ports = std::as_const(subnet_).PortsOf(node);
  return std::all_of(ports.begin(), ports.end(), [](const NodePort& port) {
    return port.info.master_sm_lid == wire::Lid::kUnassigned;
  });
}

// A switch loses its own routes by being powered on.  The other switches still
// have theirs, including those to this node.
void StaticSm::BringBack(topology::NodeId id,
                         absl::FunctionRef<void()> power_on) {
  Node& node = subnet_.node(id);
  if (node.up || !IsOurs(node)) return power_on();
  LinearTable routes;
  uint16_t top = 0;
  if (node.is_switch()) {
    routes = std::exchange(node.sw->linear, LinearTable());
    top = node.sw->info.linear_fdb_top;
  }
  power_on();
  if (node.is_switch()) {
    node.sw->linear = std::move(routes);
    node.sw->info.linear_fdb_top = top;
  }
  if (!node.up) return;  // it is still off or unplugged
  for (NodePort& port : subnet_.PortsOf(node)) {
    const PortId port_id = subnet_.id_of(port);
    port.info.lid = lids_[static_cast<size_t>(port_id)];
    ActivateLink(port_id);
  }
}

void StaticSm::ActivateLink(PortId id) {
  NodePort& port = subnet_.port(id);
  const PortId peer = port.peer == kNoPort ? id : port.peer;
  if (!port.IsUp() || !IsOurs(subnet_.NodeOf(id)) ||
      !IsOurs(subnet_.NodeOf(peer))) {
    return;
  }
  for (const PortId end : {id, peer}) {
    SetUpLink(subnet_, subnet_.port(end));
    // Links refuses this if the port is ACTIVE already, as port 0 of a switch
    // is.
    links_.SetLogicalState(end, mad::PortState::kArmed);
    links_.SetLogicalState(end, mad::PortState::kActive);
  }
}

}  // namespace ibemu::fabric
