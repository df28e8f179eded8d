// The topologies that labs are built from.
#ifndef IBEMU_TESTING_TOPOLOGIES_H_
#define IBEMU_TESTING_TOPOLOGIES_H_

#include <string>

#include "topology/rate_text.h"
#include "topology/topology.h"

namespace ibemu::testing {

// Adds a cable between a port of node `a` and one of node `b`.
inline void AddLink(
    topology::Topology& topology, uint32_t a, int port_a, uint32_t b,
    int port_b, const topology::LinkRate& rate = topology::DefaultLinkRate()) {
  topology.links.push_back({.a = topology::NodeId{a},
                            .b = topology::NodeId{b},
                            .port_a = static_cast<uint8_t>(port_a),
                            .port_b = static_cast<uint8_t>(port_b),
                            .rate = rate});
}

// Returns a chain of switches with one host at each end: host-1 - sw1 - ... -
// swN - host-2, which are nodes 0 to N+1.  Each switch has 8 ports: port 1
// leads towards host-1, port 2 towards host-2.
inline topology::Topology Chain(int switches) {
  using topology::NodeSpec;
  topology::Topology topology;
  const auto host = [&](const std::string& name, uint64_t guid) {
    NodeSpec spec;
    spec.name = spec.description = name;
    spec.node_guid = wire::Guid{guid};
    spec.port_guids = {wire::Guid{guid + 1}};
    spec.port_count = 1;
    topology.nodes.push_back(spec);
  };
  host("host-1", 0x1000);
  for (int i = 1; i <= switches; ++i) {
    NodeSpec spec;
    spec.type = mad::NodeType::kSwitch;
    spec.name = spec.description = "sw" + std::to_string(i);
    spec.node_guid = wire::Guid{0x5000 + 16 * static_cast<uint64_t>(i)};
    spec.port_guids = {spec.node_guid};
    spec.port_count = 8;
    topology.nodes.push_back(spec);
  }
  host("host-2", 0x2000);
  const auto last = static_cast<uint32_t>(switches + 1);
  for (uint32_t i = 0; i < last; ++i) {
    AddLink(topology, i, i == 0 ? 1 : 2, i + 1, 1);
  }
  return topology;
}

// Nodes of SmallSubnet().
inline constexpr topology::NodeId kHost{0}, kOtherHost{1}, kSwitch{2};

// Returns a switch with two hosts: node-1 (2 ports) and node-2 are on its ports
// 1, 2 and 3; its port 4 is free.
inline topology::Topology SmallSubnet() {
  topology::Topology topology;
  topology.nodes.resize(3);
  topology::NodeSpec& host = topology.nodes[0];
  host.description = "node-1";
  host.node_guid = wire::Guid{0x10};
  host.vendor_id = 0x2c9;
  host.device_id = 0x1011;
  host.port_count = 2;
  topology::NodeSpec& other = topology.nodes[1];
  other.description = "node-2";
  other.node_guid = wire::Guid{0x20};
  other.vendor_id = 0x1175;
  other.port_count = 1;
  topology::NodeSpec& sw = topology.nodes[2];
  sw.type = mad::NodeType::kSwitch;
  sw.description = "sw";
  sw.node_guid = wire::Guid{0x30};
  sw.vendor_id = 0x2c9;
  sw.port_count = 4;
  const topology::LinkRate edr = *topology::ParseLinkRate("4xEDR");
  AddLink(topology, 0, 1, 2, 1, edr);
  AddLink(topology, 0, 2, 2, 2, edr);
  AddLink(topology, 1, 1, 2, 3, edr);
  return topology;
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_TOPOLOGIES_H_
