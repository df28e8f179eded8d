#include "fabric/forwarding/endpoints.h"

#include "absl/strings/str_format.h"
#include "fabric/packet/single_packet.h"
#include "fabric/packet/transport.h"
#include "mad/mad_class.h"
#include "mad/smi.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {
namespace {

using wire::Lid, mad::LocalVerdict, mad::MadHeader, mad::Method, mad::SmiStep,
    mad::Smp, mad::TrapNumber;

// Returns the port through which an SMP leaves while it is in the directed part
// of its path, or 0 if it is routed by LID.
uint8_t DirectedEgress(const mad::MadBytes& smp) {
  constexpr size_t kInitialPath = 128, kReturnPath = 192;
  const bool returning = wire::Get<&Smp::direction>(smp);
  const size_t pointer = wire::Get<&Smp::hop_pointer>(smp);
  const size_t count = wire::Get<&Smp::hop_count>(smp);
  const Lid before =
      returning ? wire::Get<&Smp::dr_dlid>(smp) : wire::Get<&Smp::dr_slid>(smp);
  if (before != Lid::kPermissive || pointer == 0 || pointer > count ||
      count > mad::kSmpMaxHops) {
    return 0;
  }
  return static_cast<uint8_t>(
      smp[(returning ? kReturnPath : kInitialPath) + pointer]);
}

wire::Gid GidOf(const NodePort& port, int index) {
  return {.prefix = port.info.gid_prefix, .interface_id = port.GuidAt(index)};
}

// Returns the index of `gid` in the port's table.  The default prefix always
// matches (IBA vol 1 §4.1.1).
std::optional<uint8_t> FindGid(const NodePort& port, const wire::Gid& gid) {
  if (gid.prefix != port.info.gid_prefix &&
      gid.prefix != wire::kDefaultGidPrefix) {
    return std::nullopt;
  }
  for (int index = 0; index < kGuidTableEntries; ++index) {
    const uint64_t guid = port.GuidAt(index);
    if (guid != 0 && guid == gid.interface_id) {
      return static_cast<uint8_t>(index);
    }
    if (!port.tables || port.tables->guids.empty()) break;
  }
  return std::nullopt;
}

mad::BadKey BadKeyOf(const Packet& packet, TrapNumber trap) {
  mad::BadKey bad{
      .trap = trap,
      .details = {.lid1 = packet.slid,
                  .lid2 = packet.dlid,
                  .key = trap == TrapNumber::kBadQKey ? packet.q_key
                                                      : packet.p_key,
                  .sl = packet.sl,
                  .qp1 = packet.source_qpn,
                  .qp2 = packet.destination_qpn},
      .packets = packet.Count()};
  if (packet.grh) {
    bad.details.gid1 = packet.grh->sgid;
    bad.details.gid2 = packet.grh->dgid;
  }
  return bad;
}

// Returns by which of its LIDs a packet reached the port: 0 if by none.
uint8_t PathBitsOf(const NodePort& port, Lid dlid) {
  if (!port.Owns(dlid)) return 0;
  return static_cast<uint8_t>(static_cast<unsigned>(dlid) -
                              static_cast<unsigned>(port.info.lid));
}

// Returns an SMP as it arrives at its end port.
mad::Arrival SmpOf(const NodePort& port, const Packet& packet) {
  mad::Arrival arrival;
  arrival.qp = 0;
  arrival.slid = packet.slid;
  arrival.source_qpn = packet.source_qpn;
  arrival.path_bits = PathBitsOf(port, packet.dlid);
  arrival.mad = packet.mad;
  return arrival;
}

}  // namespace

Endpoints::Endpoints(Subnet& subnet, Links& links, FabricEvents& events,
                     NodeAgents& agents, Timers& timers, uint64_t seed)
    : subnet_(subnet),
      agents_(agents),
      forwarder_(subnet, links, events, timers, *this, seed) {}

void Endpoints::SetListener(PortId port, mad::PortListener* listener) {
  if (listener == nullptr) {
    listeners_.erase(port);
  } else {
    listeners_[port] = listener;
  }
}

void Endpoints::SetManagementService(PortId port, ManagementService* service) {
  if (service == nullptr) {
    services_.erase(port);
  } else {
    services_[port] = service;
  }
}

ManagementService* Endpoints::ServiceAt(PortId port) const {
  const auto service = services_.find(port);
  return service == services_.end() ? nullptr : service->second;
}

LocalVerdict Endpoints::ProcessLocal(PortId port, const mad::Arrival& request,
                                     mad::MadBytes& reply) {
  if (RemoteAgents* const remote = AgentsOf(subnet_.port(port).node)) {
    if (const auto verdict = remote->Process(port, request, reply)) {
      return *verdict;
    }
  }
  const LocalVerdict verdict = agents_.Handle(port, request, reply);
  if (verdict != LocalVerdict::kUnhandled || services_.empty()) return verdict;
  ManagementService* const service = ServiceAt(subnet_.management_port(port));
  return service == nullptr ? verdict : service->Take(request, reply);
}

absl::Status Endpoints::Transmit(PortId from, const mad::Outgoing& outgoing) {
  const auto& grh = outgoing.to.grh;
  if (grh && grh->gid_index >= kGuidTableEntries) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "gid_index %d: the table of %s has %d entries", grh->gid_index,
        subnet_.PortName(from), kGuidTableEntries));
  }
  SendMad(from, outgoing);
  return absl::OkStatus();
}

void Endpoints::SendMad(PortId from, const mad::Outgoing& outgoing) {
  const NodePort& port = subnet_.port(from);
  const mad::AddressVector& to = outgoing.to;
  const bool smp = outgoing.qp == 0;
  Packet packet;
  packet.vl15 = smp;
  packet.sl = smp ? 0 : to.sl & 15;
  packet.source_qpn = static_cast<uint32_t>(outgoing.qp);
  packet.destination_qpn = to.qpn;
  packet.mad = outgoing.mad;
  packet.dlid = to.dlid;
  if (port.info.lid != Lid::kUnassigned) {
    const unsigned path_bits = to.path_bits & ((1u << port.info.lmc) - 1);
    packet.slid =
        static_cast<Lid>(static_cast<unsigned>(port.info.lid) | path_bits);
  } else if (smp) {
    packet.slid = Lid::kPermissive;
  }

  if (smp) {
    const uint8_t egress =
        mad::IsDirectedRoute(packet.mad) ? DirectedEgress(packet.mad) : 0;
    if (egress == 0) {
      forwarder_.SendByAddress(from, packet);
      return;
    }
    packet.dlid = Lid::kPermissive;
    const Node& node = subnet_.node(port.node);
    if (!node.is_switch()) {
      forwarder_.Send(Flight::Step::kLeave, from, packet);
    } else if (egress <= node.port_count) {
      packet.slid = Lid::kPermissive;
      forwarder_.Send(Flight::Step::kLeave, subnet_.port_id(node, egress),
                      packet);
    }
    return;
  }

  // Queue pair 1 always sends with its own Q_Key, whatever the request says.
  packet.q_key = mad::kQp1QKey;
  packet.p_key = port.PKeyAt(to.pkey_index);
  if (to.grh) {
    packet.grh = RouteHeader{.sgid = GidOf(port, to.grh->gid_index),
                             .dgid = to.grh->gid,
                             .flow_label = to.grh->flow_label,
                             .traffic_class = to.grh->traffic_class,
                             .hop_limit = to.grh->hop_limit};
  }
  forwarder_.SendByAddress(from, packet);
}

void Endpoints::SetTransportSink(topology::NodeId node, TransportSink* sink) {
  if (sink == nullptr) {
    transport_sinks_.erase(node);
  } else {
    transport_sinks_[node] = sink;
  }
}

int Endpoints::AdmitByPKey(PortId id, const Packet& packet) {
  const int index = subnet_.port(id).FindPKey(packet.p_key);
  if (index < 0) OnBadPKey(id, packet);
  return index;
}

void Endpoints::OnBadPKey(PortId id, const Packet& packet) {
  OnBadKey(id, BadKeyOf(packet, TrapNumber::kBadPKey));
}

bool Endpoints::IsForUs(PortId port, const RouteHeader& grh) const {
  return wire::IsMulticast(grh.dgid) ||
         FindGid(subnet_.port(port), grh.dgid).has_value();
}

void Endpoints::OnBadQKey(PortId id, const Packet& packet) {
  OnBadKey(id, BadKeyOf(packet, TrapNumber::kBadQKey));
}

void Endpoints::OnBadKey(PortId id, const mad::BadKey& bad) {
  if (RemoteAgents* const remote = AgentsOf(subnet_.port(id).node)) {
    return remote->OnBadKey(id, bad);
  }
  agents_.notices().OnBadKey(id, bad);
}

wire::Gid Endpoints::GidAt(PortId port, int index) const {
  return GidOf(subnet_.port(port), index);
}

void Endpoints::SetRemote(topology::NodeId node, RemoteAdapter* adapter) {
  subnet_.node(node).remote = adapter != nullptr;
  if (adapter == nullptr) {
    remotes_.erase(node);
  } else {
    remotes_[node] = adapter;
  }
}

RemoteAdapter* Endpoints::RemoteOf(topology::NodeId node) const {
  const auto found = remotes_.find(node);
  return found == remotes_.end() ? nullptr : found->second;
}

void Endpoints::SetAgents(topology::NodeId node, RemoteAgents* agents) {
  if (agents == nullptr) {
    remote_agents_.erase(node);
  } else {
    remote_agents_[node] = agents;
  }
}

RemoteAgents* Endpoints::AgentsOf(topology::NodeId node) const {
  if (remote_agents_.empty()) return nullptr;
  const auto found = remote_agents_.find(node);
  return found == remote_agents_.end() ? nullptr : found->second;
}

void Endpoints::HandOut(PortId port, const Packet& packet) {
  RemoteAdapter& adapter = *remotes_.at(subnet_.port(port).node);
  if (packet.vl15 && adapter.LeavesReadsToAgents() &&
      AnswerRead(port, packet)) {
    return;
  }
  if (packet.Count() == 1) return adapter.OnPacket(port, packet);
  if (adapter.OnPackets(port, packet)) return;
  for (uint32_t i = 0; i < packet.Count(); ++i) {
    adapter.OnPacket(port, SingleOf(packet, i));
  }
}

bool Endpoints::AnswerRead(PortId ingress, const Packet& packet) {
  const NodePort& port = subnet_.port(ingress);
  mad::Arrival arrival = SmpOf(port, packet);
  if (packet.destination_qpn != 0 ||
      !mad::IsValidMad(arrival.qp, arrival.mad) ||
      wire::Get<&MadHeader::method>(arrival.mad) != Method::kGet) {
    return false;
  }
  if (mad::IsDirectedRoute(arrival.mad) &&
      mad::SmiReceive(arrival.mad,
                      {.is_switch = false,
                       .port_count = subnet_.node(port.node).port_count},
                      port.number)
              .step != SmiStep::kDeliver) {
    return false;
  }
  mad::MadBytes reply;
  const LocalVerdict verdict = agents_.Handle(ingress, arrival, reply);
  if (verdict == LocalVerdict::kReply) Answer(ingress, arrival, reply);
  return verdict != LocalVerdict::kUnhandled;
}

void Endpoints::OnPacket(PortId ingress, const Packet& packet) {
  if (!remotes_.empty() && subnet_.NodeOf(ingress).remote) {
    return HandOut(ingress, packet);
  }
  if (packet.transport != nullptr) {
    const auto sink = transport_sinks_.find(subnet_.port(ingress).node);
    if (sink != transport_sinks_.end()) {
      sink->second->OnTransport(ingress, packet);
    }
    return;
  }
  if (packet.vl15) {
    if (packet.destination_qpn == 0) OnSmp(ingress, packet);
  } else if (packet.destination_qpn == 1) {
    OnGmp(subnet_.management_port(ingress), packet);
  }
}

void Endpoints::OnEnforcedPKey(PortId port, const Packet& packet) {
  agents_.notices().OnSwitchBadPKey(
      port, BadKeyOf(packet, TrapNumber::kBadPKey).details);
}

void Endpoints::OnSmp(PortId ingress, const Packet& packet) {
  const PortId id = subnet_.management_port(ingress);
  const mad::Arrival arrival = SmpOf(subnet_.port(id), packet);
  if (!mad::IsValidMad(arrival.qp, arrival.mad)) return;
  mad::MadBytes reply;
  switch (ProcessLocal(ingress, arrival, reply)) {
    case LocalVerdict::kReply:
      Answer(ingress, arrival, reply);
      break;
    case LocalVerdict::kConsumed:
      break;
    case LocalVerdict::kUnhandled:
      if (HandUp(id, arrival, reply)) Answer(ingress, arrival, reply);
      break;
  }
}

void Endpoints::Answer(PortId ingress, const mad::Arrival& request,
                       mad::MadBytes& reply) {
  const auto send = [this, ingress](const mad::Arrival& to,
                                    mad::MadBytes& answer) {
    if (to.qp == 0) {
      AnswerSmp(ingress, to, answer);
    } else {
      AnswerGmp(ingress, to, answer);
    }
  };
  if (!agents_.faults().Concern(subnet_.port(ingress).node)) {
    return send(request, reply);
  }
  Packet packet;
  packet.vl15 = request.qp == 0;
  packet.slid = subnet_.port(subnet_.management_port(ingress)).info.lid;
  packet.dlid = request.slid;
  packet.mad = reply;
  agents_.faults().Pass(ingress, packet, [send, request, reply]() mutable {
    send(request, reply);
  });
}

void Endpoints::AnswerSmp(PortId ingress, const mad::Arrival& request,
                          mad::MadBytes& reply) {
  const Node& node = subnet_.NodeOf(ingress);
  const PortId id = subnet_.management_port(ingress);
  mad::Outgoing answer;
  answer.qp = 0;
  answer.to.dlid = request.slid;
  answer.to.qpn = request.source_qpn;
  answer.to.path_bits = request.path_bits;
  if (mad::IsDirectedRoute(reply)) {
    const mad::SmiVerdict verdict = mad::SmiAnswer(
        reply, {.is_switch = node.is_switch(), .port_count = node.port_count},
        subnet_.port(id).number);
    if (verdict.step == SmiStep::kDiscard ||
        verdict.step == SmiStep::kDeliver) {
      return;
    }
    if (verdict.step == SmiStep::kRouteByLid) answer.to.dlid = verdict.dlid;
  } else if (request.slid == Lid::kPermissive && node.is_switch()) {
    // The request came from a neighbour without a LID: the answer leaves
    // through the port at which the request came in.
    Packet packet;
    packet.vl15 = true;
    packet.slid = packet.dlid = Lid::kPermissive;
    packet.mad = reply;
    forwarder_.Send(Flight::Step::kLeave, ingress, packet);
    return;
  }
  answer.mad = reply;
  SendMad(id, answer);
}

void Endpoints::OnGmp(PortId id, const Packet& packet) {
  const NodePort& port = subnet_.port(id);
  const int p_key_index = AdmitByPKey(id, packet);
  if (p_key_index < 0) return;
  if (packet.q_key != mad::kQp1QKey) return OnBadQKey(id, packet);
  mad::Arrival arrival;
  if (packet.grh && !TakeGrh(port, packet, arrival)) return;
  arrival.qp = 1;
  arrival.slid = packet.slid;
  arrival.sl = packet.sl;
  arrival.path_bits = PathBitsOf(port, packet.dlid);
  arrival.pkey_index = static_cast<uint16_t>(p_key_index);
  arrival.source_qpn = packet.source_qpn;
  arrival.mad = packet.mad;
  if (!mad::IsValidMad(arrival.qp, arrival.mad)) return;
  mad::MadBytes reply;
  switch (ProcessLocal(id, arrival, reply)) {
    case LocalVerdict::kReply:
      Answer(id, arrival, reply);
      break;
    case LocalVerdict::kConsumed:
      break;
    case LocalVerdict::kUnhandled:
      if (HandUp(id, arrival, reply)) Answer(id, arrival, reply);
      break;
  }
}

bool Endpoints::TakeGrh(const NodePort& port, const Packet& packet,
                        mad::Arrival& arrival) const {
  const RouteHeader& grh = *packet.grh;
  std::optional<uint8_t> index = FindGid(port, grh.dgid);
  if (!index && wire::IsMulticast(grh.dgid)) index = 0;
  if (!index) return false;
  arrival.grh = mad::GlobalRoute{.gid = grh.sgid,
                                 .flow_label = grh.flow_label,
                                 .gid_index = *index,
                                 .hop_limit = grh.hop_limit,
                                 .traffic_class = grh.traffic_class};
  return true;
}

void Endpoints::AnswerGmp(PortId port, const mad::Arrival& request,
                          const mad::MadBytes& reply) {
  mad::Outgoing answer;
  answer.qp = 1;
  answer.to.dlid = request.slid;
  answer.to.sl = request.sl;
  answer.to.path_bits = request.path_bits;
  answer.to.pkey_index = request.pkey_index;
  answer.to.qpn = request.source_qpn;
  answer.to.grh = request.grh;
  if (answer.to.grh) answer.to.grh->hop_limit = 0xff;
  answer.mad = reply;
  SendMad(port, answer);
}

bool Endpoints::HandUp(PortId port, const mad::Arrival& arrival,
                       mad::MadBytes& reply) {
  if (const auto found = listeners_.find(port); found != listeners_.end()) {
    found->second->OnReceive(arrival);
    return false;
  }
  const Method method = wire::Get<&MadHeader::method>(arrival.mad);
  if (method != Method::kGet && method != Method::kSet) return false;
  reply = arrival.mad;
  wire::Put<&MadHeader::method>(reply, Method::kGetResp);
  wire::Put<&MadHeader::status>(reply, mad::MadStatus::kUnsupportedAttribute);
  if (mad::IsDirectedRoute(reply)) wire::Put<&Smp::direction>(reply, true);
  return true;
}

}  // namespace ibemu::fabric
