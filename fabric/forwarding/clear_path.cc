#include "fabric/forwarding/clear_path.h"

#include <algorithm>

#include "fabric/forwarding/link_traffic.h"
#include "fabric/packet/transport.h"
#include "fabric/routing/path_trace.h"

namespace ibemu::fabric {
namespace {

// Returns whether partition enforcement lets such packets through this node.
bool LetsThrough(const Subnet& subnet, const PathHop& hop, uint16_t p_key) {
  const NodePort& out = subnet.port(hop.exit);
  if (!subnet.node(out.node).is_switch()) return true;
  const NodePort& in = subnet.port(hop.entry);
  return (!in.info.partition_enforcement_inbound || in.AdmitsFromPeer(p_key)) &&
         (!out.info.partition_enforcement_outbound || out.FindPKey(p_key) >= 0);
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
  const PathTrace trace = TracePath(subnet, from, kind.dlid);
  const PortId end = trace.hops.back().entry;
  if (trace.end || end == kNoPort || subnet.NodeOf(end).is_switch()) {
    return std::nullopt;
  }
  ClearPath path{.links = {}, .end = end, .mtu = SIZE_MAX};
  for (const PathHop& hop : trace.hops) {
    if (hop.entry != kNoPort && !subnet.port(hop.entry).IsActive()) {
      return std::nullopt;
    }
    if (hop.exit == kNoPort) break;
    const NodePort& out = subnet.port(hop.exit);
    const uint8_t vl = out.VlOf(
        kind.sl, hop.entry == kNoPort ? 0 : subnet.port(hop.entry).number);
    if (out.faulty || vl == 15 || !LetsThrough(subnet, hop, kind.p_key)) {
      return std::nullopt;
    }
    path.links.push_back({.out = hop.exit, .vl = vl});
    path.mtu = std::min(path.mtu, size_t{128} << out.info.neighbor_mtu);
  }
  return path;
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
