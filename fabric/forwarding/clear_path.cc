#include "fabric/forwarding/clear_path.h"

#include <algorithm>

#include "fabric/forwarding/link_traffic.h"
#include "fabric/packet/transport.h"

namespace ibemu::fabric {
namespace {

// No real subnet has paths this long: it is a routing loop.
constexpr size_t kMaxLinks = 64;

// Returns the port by which a switch passes packets on, or kNoPort if it would
// not.
PortId RouteThrough(const Subnet& subnet, const Node& node, const NodePort& in,
                    const PacketKind& kind) {
  if (in.info.partition_enforcement_inbound && !in.AdmitsFromPeer(kind.p_key)) {
    return kNoPort;
  }
  if (static_cast<uint16_t>(kind.dlid) > node.sw->info.linear_fdb_top) {
    return kNoPort;
  }
  const uint8_t out = node.sw->linear.Lookup(kind.dlid);
  if (out == 0 || out > node.port_count || out == in.number) return kNoPort;
  return subnet.port_id(node, out);
}

}  // namespace

std::optional<PacketKind> KindOf(const Packet& packet) {
  if (packet.transport == nullptr || packet.vl15 ||
      packet.dlid == wire::Lid::kUnassigned || wire::IsMulticast(packet.dlid)) {
    return std::nullopt;
  }
  return PacketKind{packet.dlid, packet.sl, packet.p_key};
}

std::optional<ClearPath> FindClearPath(const Subnet& subnet, PortId from,
                                       const PacketKind& kind) {
  ClearPath path{.links = {}, .mtu = SIZE_MAX};
  PortId egress = from;
  uint8_t ingress_number = 0;
  while (path.links.size() < kMaxLinks) {
    const NodePort& out = subnet.port(egress);
    const Node& node = subnet.node(out.node);
    if (!node.up || out.faulty || out.peer == kNoPort || !out.IsActive()) {
      return std::nullopt;
    }
    const uint8_t vl = out.VlOf(kind.sl, ingress_number);
    if (vl == 15) return std::nullopt;
    if (node.is_switch() && out.info.partition_enforcement_outbound &&
        out.FindPKey(kind.p_key) < 0) {
      return std::nullopt;
    }
    path.links.push_back({.out = egress, .vl = vl});
    path.mtu = std::min(path.mtu, size_t{128} << out.info.neighbor_mtu);
    const NodePort& in = subnet.port(out.peer);
    const Node& next = subnet.node(in.node);
    if (!in.IsActive()) return std::nullopt;
    if (!next.is_switch()) {
      if (!in.Owns(kind.dlid)) return std::nullopt;
      path.end = out.peer;
      return path;
    }
    egress = RouteThrough(subnet, next, in, kind);
    if (egress == kNoPort) return std::nullopt;
    ingress_number = in.number;
  }
  return std::nullopt;
}

void CountOn(const ClearPath& path, const PacketKind& kind, uint64_t packets,
             uint64_t words, Subnet& subnet) {
  for (const ClearPath::Link& link : path.links) {
    const LinkTraffic traffic{
        .packets = packets, .words = words, .sl = kind.sl, .vl = link.vl};
    NodePort& out = subnet.port(link.out);
    CountXmit(out, traffic);
    if (out.peer != kNoPort) CountRcv(subnet.port(out.peer), traffic);
  }
}

}  // namespace ibemu::fabric
