// A small topology: hosts at the ends of a row of switches.
#ifndef IBEMU_TESTING_ROW_TOPOLOGY_H_
#define IBEMU_TESTING_ROW_TOPOLOGY_H_

#include <string>

#include "topology/rate_text.h"
#include "topology/topology.h"

namespace ibemu::testing {

// Returns a row of switches with one host at each end: host 1 - sw1 - ... - swN
// - host 2.  Each switch has 8 ports: port 1 leads towards host 1, port 2
// towards host 2.
inline topology::Topology Row(int switches) {
  using topology::LinkSpec, topology::NodeId, topology::NodeSpec;
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
    LinkSpec link;
    link.a = NodeId{i};
    link.port_a = i == 0 ? 1 : 2;
    link.b = NodeId{i + 1};
    link.port_b = 1;
    link.rate = topology::DefaultLinkRate();
    topology.links.push_back(link);
  }
  return topology;
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_ROW_TOPOLOGY_H_
