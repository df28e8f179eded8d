#include "fabric/static_sm.h"

#include <algorithm>

#include "absl/strings/str_format.h"
#include "fabric/fabric.h"
#include "fabric/min_hop_router.h"

namespace ibemu::fabric {
namespace {

constexpr size_t kUnicastLids = 0xbfff;  // IBA vol 1 §4.1.3

// The ports that get a LID: those of hosts and routers in the order of the
// nodes, then each switch's port 0.
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

// What an SM leaves behind on each end of a link.
void Activate(Subnet& subnet, NodePort& port) {
  if (!port.IsUp()) return;
  mad::PortInfo& info = port.info;
  info.port_state = mad::PortState::kActive;
  if (port.peer == kNoPort || port.number == 0) return;
  const mad::PortInfo& peer = subnet.port(port.peer).info;
  info.neighbor_mtu = std::min(info.mtu_cap, peer.mtu_cap);
  info.operational_vls = std::min(info.vl_cap, peer.vl_cap);
}

}  // namespace

absl::Status ConfigureSubnet(Subnet& subnet) {
  const std::vector<PortId> ends = EndPorts(subnet);
  if (ends.size() > kUnicastLids) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("the topology needs %d LIDs, a subnet has %d",
                        ends.size(), kUnicastLids));
  }
  uint16_t lid = 0;
  for (const PortId id : ends) {
    mad::PortInfo& info = subnet.port(id).info;
    info.lid = mad::Lid{++lid};
    info.lmc = 0;
  }
  MinHopRouter(subnet).Route();
  for (Node& node : subnet.nodes()) {
    if (!node.is_switch()) continue;
    node.sw->info.linear_fdb_top = lid;
    node.sw->info.port_state_change = false;
  }
  for (NodePort& port : subnet.ports()) Activate(subnet, port);
  return absl::OkStatus();
}

absl::Status ConfigureStatically(Fabric& fabric) {
  return ConfigureSubnet(fabric.subnet());
}

}  // namespace ibemu::fabric
