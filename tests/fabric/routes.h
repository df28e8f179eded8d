// The ways that forwarding tables make.
#ifndef IBEMU_TESTS_FABRIC_ROUTES_H_
#define IBEMU_TESTS_FABRIC_ROUTES_H_

#include <vector>

#include "fabric/subnet/subnet.h"

namespace ibemu::fabric {

// The topology file of two subnets that nothing connects.
inline constexpr const char* kTwoIslands = R"(
Ca 1 "a"
[1] "left"[1]

Switch 2 "left"
[1] "a"[1]

Ca 1 "b"
[1] "right"[1]

Switch 2 "right"
[1] "b"[1]
)";

// A Walk is where packets for a LID end up that leave a port, and how: ids of
// the ports that send it, hosts' included.  A loop is longer than any path.
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

#endif  // IBEMU_TESTS_FABRIC_ROUTES_H_
