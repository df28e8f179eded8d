#include "fabric/routing/path_walk.h"

#include <algorithm>

#include "fabric/routing/path_rate.h"

namespace ibemu::fabric {
namespace {

constexpr int kMaxHops = 64;

}  // namespace

std::optional<Path> WalkPath(const Subnet& subnet, PortId from, wire::Lid dlid,
                             PortId to, std::vector<PathHop>* hops) {
  const mad::PortInfo& first = subnet.port(from).info;
  uint8_t mtu = std::min(first.mtu_cap, subnet.port(to).info.mtu_cap);
  int bandwidth = 0;  // 0: no link so far
  const auto narrow = [&](const mad::PortInfo& info) {
    mtu = std::min(mtu, info.mtu_cap);
    const int here = LinkBandwidth(info);
    bandwidth = bandwidth == 0 ? here : std::min(bandwidth, here);
  };

  PathHop hop{.exit = from};  // the current node
  if (subnet.NodeOf(from).is_switch()) hop = {.entry = from};
  for (int count = 0; count <= kMaxHops; ++count) {
    const topology::NodeId here =
        subnet.port(hop.entry != kNoPort ? hop.entry : hop.exit).node;
    const Node& node = subnet.node(here);
    const bool at_end = here == subnet.port(to).node;
    if (node.is_switch()) {
      const int out = node.sw->linear.Lookup(dlid);
      if (static_cast<uint16_t>(dlid) > node.sw->info.linear_fdb_top ||
          !subnet.has_port(node, out)) {
        return std::nullopt;
      }
      hop.exit = subnet.port_id(node, out);
    } else if (at_end && (hop.entry == to || from == to)) {
      hop.exit = hop.entry == to ? to : hop.exit;
    } else if (hop.entry != kNoPort) {
      return std::nullopt;  // adapters do not forward packets
    }
    if (hop.exit == to) {
      if (hops != nullptr) {
        const bool at_home = hop.entry == kNoPort;  // a path to itself
        hops->push_back(at_home ? hop : PathHop{.entry = hop.entry});
      }
      if (bandwidth == 0) bandwidth = LinkBandwidth(subnet.port(to).info);
      return Path{.mtu = mtu, .rate = PathRateWithin(bandwidth)};
    }
    const NodePort& out = subnet.port(hop.exit);
    if (out.number == 0 || out.peer == kNoPort || !out.IsUp()) {
      return std::nullopt;
    }
    if (hops != nullptr) hops->push_back(hop);
    narrow(out.info);
    narrow(subnet.port(out.peer).info);
    hop = {.entry = out.peer};
  }
  return std::nullopt;
}

}  // namespace ibemu::fabric
