#include "daemon/capture/mad_packet.h"

#include "mad/smi.h"
#include "mad/wire/smp.h"

namespace ibemu::daemon {
namespace {

using wire::Lid, mad::Smp;

// The ends of the directed part of an SMP's path.
enum class PathEnd { kFirst, kLast };

// Returns true if the directed part of the way that `mad` goes begins (ends)
// at the sender (receiver): no part by LID comes before (after) it.
bool IsDirected(const mad::MadBytes& mad, PathEnd end) {
  if (!mad::IsDirectedRoute(mad)) return false;
  const bool returning = wire::Get<&Smp::direction>(mad);
  const bool at_requester = returning == (end == PathEnd::kLast);
  return (at_requester ? wire::Get<&Smp::dr_slid>(mad)
                       : wire::Get<&Smp::dr_dlid>(mad)) == Lid::kPermissive;
}

// Returns the LID of a port that has `path_bits` in the packet.
Lid OwnLid(const mad::PortInfo& info, uint8_t path_bits, bool smp) {
  if (info.lid == Lid::kUnassigned) {
    return smp ? Lid::kPermissive : Lid::kUnassigned;
  }
  const unsigned mask = (1u << info.lmc) - 1;
  return Lid(static_cast<uint16_t>(static_cast<unsigned>(info.lid) |
                                   (path_bits & mask)));
}

// Returns the header fields that depend on the queue pair alone: those of
// queue pair 0 have neither partition nor Q_Key.
fabric::Packet PacketOfQp(int qp, uint16_t pkey_index, const mad::Port& port) {
  fabric::Packet packet;
  packet.vl15 = qp == 0;
  if (qp != 0) {
    packet.p_key = port.PKeyAt(pkey_index);
    packet.q_key = mad::kQp1QKey;
  }
  return packet;
}

fabric::RouteHeader RouteOf(const mad::GlobalRoute& grh) {
  return {.sgid = {},
          .dgid = {},
          .flow_label = grh.flow_label,
          .traffic_class = grh.traffic_class,
          .hop_limit = grh.hop_limit};
}

}  // namespace

fabric::Packet PacketOf(const mad::Outgoing& sent, const mad::Port& port) {
  const mad::AddressVector& to = sent.to;
  const bool smp = sent.qp == 0;
  fabric::Packet packet = PacketOfQp(sent.qp, to.pkey_index, port);
  packet.sl = smp ? 0 : to.sl & 15;
  packet.source_qpn = static_cast<uint32_t>(sent.qp);
  packet.destination_qpn = to.qpn;
  packet.dlid = to.dlid;
  packet.slid = OwnLid(port.Info(), to.path_bits, smp);
  if (IsDirected(sent.mad, PathEnd::kFirst)) {
    packet.dlid = Lid::kPermissive;
    // It does not leave the node.
    if (wire::Get<&Smp::hop_count>(sent.mad) == 0) {
      packet.slid = Lid::kPermissive;
    }
  }
  if (to.grh) {
    packet.grh = RouteOf(*to.grh);
    packet.grh->sgid = port.GidAt(to.grh->gid_index);
    packet.grh->dgid = to.grh->gid;
  }
  packet.mad = sent.mad;
  return packet;
}

fabric::Packet PacketOf(const mad::Arrival& received, const mad::Port& port) {
  const bool smp = received.qp == 0;
  fabric::Packet packet = PacketOfQp(received.qp, received.pkey_index, port);
  packet.sl = smp ? 0 : received.sl;
  packet.source_qpn = received.source_qpn;
  packet.destination_qpn = static_cast<uint32_t>(received.qp);
  packet.slid = received.slid;
  packet.dlid = IsDirected(received.mad, PathEnd::kLast)
                    ? Lid::kPermissive
                    : OwnLid(port.Info(), received.path_bits, smp);
  if (received.grh) {
    packet.grh = RouteOf(*received.grh);
    packet.grh->sgid = received.grh->gid;
    packet.grh->dgid = port.GidAt(received.grh->gid_index);
  }
  packet.mad = received.mad;
  return packet;
}

}  // namespace ibemu::daemon
