#include "fabric/subnet/live_topology.h"

#include <cstddef>
#include <utility>
#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {
namespace {

using fabric::Node;
using fabric::NodePort;
using fabric::Subnet;
using topology::NodeSpec;
using topology::Topology;

NodeSpec SpecOf(const Subnet& subnet, const Node& node) {
  NodeSpec spec;
  spec.type = node.type;
  spec.name = node.name;
  spec.description = node.description;
  spec.node_guid = node.node_guid;
  spec.system_image_guid = node.system_image_guid;
  spec.vendor_id = node.vendor_id;
  spec.device_id = node.device_id;
  spec.port_count = node.port_count;
  spec.label = node.label;
  for (const NodePort& port : subnet.PortsOf(node)) {
    spec.port_guids.push_back(port.guid);
    if (node.is_switch()) break;  // all ports share the GUID of port 0
  }
  if (node.is_switch()) {
    spec.enhanced_port_0 = node.sw->info.enhanced_port_0;
  }
  return spec;
}

topology::LinkRate ActiveRate(const mad::PortInfo& info) {
  return {.width = info.link_width_active,
          .speed = info.link_speed_active,
          .speed_ext = info.link_speed_ext_active,
          .speed_ext2 = info.link_speed_ext_active2};
}

}  // namespace

Topology LiveTopology(const Subnet& subnet) {
  Topology topology;
  std::vector<topology::NodeId> ids(subnet.nodes().size());
  for (size_t i = 0; i < subnet.nodes().size(); ++i) {
    const Node& node = subnet.nodes()[i];
    if (!node.up) continue;
    ids[i] = static_cast<topology::NodeId>(topology.nodes.size());
    topology.nodes.push_back(SpecOf(subnet, node));
  }
  for (const NodePort& port : subnet.ports()) {
    if (port.peer == fabric::kNoPort || port.peer < subnet.id_of(port)) {
      continue;
    }
    const NodePort& peer = subnet.port(port.peer);
    if (!port.IsUp() || !peer.IsUp()) continue;
    topology.links.push_back({.a = ids[static_cast<size_t>(port.node)],
                              .b = ids[static_cast<size_t>(peer.node)],
                              .port_a = port.number,
                              .port_b = peer.number,
                              .rate = ActiveRate(port.info)});
  }
  for (topology::PortAddresses port : subnet.addresses()) {
    if (!subnet.node(port.node).up) continue;
    port.node = ids[static_cast<size_t>(port.node)];
    topology.addresses.push_back(std::move(port));
  }
  return topology;
}

}  // namespace ibemu::fabric
