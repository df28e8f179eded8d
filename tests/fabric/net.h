// A fabric of any topology, and the ways that its forwarding tables make.
#ifndef IBEMU_TESTS_FABRIC_NET_H_
#define IBEMU_TESTS_FABRIC_NET_H_

#include <gtest/gtest.h>

#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "fabric/fabric.h"
#include "fabric/subnet/subnet.h"
#include "testing/virtual_timers.h"
#include "topology/generators.h"
#include "topology/topology.h"

namespace ibemu::fabric {

struct Net {
  explicit Net(topology::Topology from)
      : topology(std::move(from)), fabric(topology, timers, {}) {}

  Subnet& subnet() { return fabric.subnet(); }
  topology::NodeId Find(std::string_view node) {
    const absl::StatusOr<topology::NodeId> id = fabric.Find(node);
    EXPECT_TRUE(id.ok()) << id.status();
    return *id;
  }
  NodePort& PortOf(std::string_view node, int number) {
    return subnet().port(subnet().port_id(Find(node), number));
  }
  PortId IdOf(std::string_view node, int number) {
    return subnet().id_of(PortOf(node, number));
  }
  wire::Lid LidOf(std::string_view node, int number = 1) {
    return PortOf(node, number).info.lid;
  }

  topology::Topology topology;
  ::ibemu::testing::VirtualTimers timers;
  Fabric fabric;
};

inline topology::Topology Generated(const char* spec) {
  return *topology::GenerateTopology(spec);
}

// Where packets for a LID end up that leave `from`, and how: ids of the ports
// that send it, hosts' included.  A loop is longer than any path.
struct Walk {
  PortId end = kNoPort;
  std::vector<PortId> senders;
};
inline Walk Follow(const Subnet& subnet, PortId from, wire::Lid lid) {
  Walk walk;
  PortId at = from;
  if (!subnet.NodeOf(from).is_switch()) {
    walk.senders.push_back(from);
    at = subnet.port(from).peer;
  }
  while (subnet.NodeOf(at).is_switch() && walk.senders.size() < 64) {
    const Node& node = subnet.NodeOf(at);
    const uint8_t out = node.sw->linear.Lookup(lid);
    if (!subnet.has_port(node, out)) return walk;
    const PortId sender = subnet.port_id(node, out);
    if (out == 0) {
      walk.end = sender;
      return walk;
    }
    walk.senders.push_back(sender);
    at = subnet.port(sender).peer;
    if (at == kNoPort) return walk;
  }
  walk.end = at;
  return walk;
}

inline std::vector<PortId> EndPorts(const Subnet& subnet) {
  std::vector<PortId> ends;
  for (const NodePort& port : subnet.ports()) {
    if (port.info.lid != wire::Lid::kUnassigned)
      ends.push_back(subnet.id_of(port));
  }
  return ends;
}

}  // namespace ibemu::fabric

#endif  // IBEMU_TESTS_FABRIC_NET_H_
