#include "mad/dispatcher.h"

#include <optional>

#include "mad/agent_core.h"
#include "mad/mad_class.h"
#include "mad/wire/smp.h"

namespace ibemu::mad {
namespace {

std::optional<int> FindGid(const Port& port, const wire::Gid& gid) {
  for (int index = 0; index < port.GidCount(); ++index) {
    if (port.GidAt(index) == gid) return index;
  }
  return std::nullopt;
}

}  // namespace

Dispatcher::Dispatcher(HostCore& host, Port& port, SmiNode node, int number)
    : host_(host),
      port_(port),
      node_(node),
      number_(static_cast<uint8_t>(number)) {
  OnPortEvent();
  port_.SetListener(this);
}

// After a removal the port's listener may be another host's.
Dispatcher::~Dispatcher() {
  if (!host_.removed()) port_.SetListener(nullptr);
}

void Dispatcher::OnRemoved() { port_.SetListener(nullptr); }

void Dispatcher::OnPortEvent() { lmc_ = port_.Info().lmc; }

Dispatcher::Path Dispatcher::StartRoute(MadBytes& smp) const {
  switch (SmiSend(smp, node_, number_).step) {
    case SmiStep::kDiscard:
      return Path::kRefused;
    case SmiStep::kDeliver:
      return Path::kLocal;
    default:
      return Path::kWire;
  }
}

void Dispatcher::SendLocally(const Outgoing& packet, AgentCore& sender) {
  snoops_->Sent(packet, absl::OkStatus());
  // QP 0 even if the agent sends through QP1: the SMA looks only at the class.
  const Arrival request{.qp = 0,
                        .slid = wire::Get<&Smp::dr_slid>(packet.mad),
                        .pkey_index = packet.to.pkey_index,
                        .mad = packet.mad};
  MadBytes reply{};
  const MadBytes* answer = nullptr;
  AgentCore* receiver = nullptr;
  switch (port_.ProcessLocal(request, reply)) {
    case LocalVerdict::kReply:
      answer = &reply;
      if (IsResponseMad(reply)) receiver = &sender;
      break;
    case LocalVerdict::kConsumed:
      break;
    case LocalVerdict::kUnhandled:
      answer = &packet.mad;
      receiver = FindAgent(packet.mad);
      break;
  }
  if (receiver == nullptr) return;
  host_.DeliverSoon(receiver->hi_tid(),
                    IncomingMessage{.qp = receiver->registration().qp,
                                    .slid = wire::Lid::kPermissive,
                                    .pkey_index = packet.to.pkey_index,
                                    .mad = {answer->begin(), answer->end()}});
}

void Dispatcher::OnReceive(const Arrival& arrival) {
  if (host_.removed()) return;
  snoops_->Received(arrival);
  if (!IsValidMad(arrival.qp, arrival.mad)) return;
  if (arrival.grh && arrival.grh->gid_index >= port_.GidCount()) return;
  AgentCore* const agent = FindAgent(arrival.mad);
  if (agent == nullptr) return RefuseUnmatched(arrival);
  if (!arrival.grh || &agent->dispatcher() == this) {
    return agent->OnArrival(arrival);
  }
  // The answer came to another port than the agent's.  The agent expects the
  // GID's index in the table of its own port.
  const wire::Gid dgid = port_.GidAt(arrival.grh->gid_index);
  const std::optional<int> index = FindGid(agent->dispatcher().port(), dgid);
  if (!index) return;
  Arrival seen = arrival;
  seen.grh->gid_index = static_cast<uint8_t>(*index);
  agent->OnArrival(seen);
}

AgentCore* Dispatcher::FindAgent(const MadBytes& mad) const {
  if (!IsResponseMad(mad)) return registry_.Find(mad);
  return host_.Find(HighTid(wire::Get<&MadHeader::tid>(mad)));
}

// Answers a Get or Set that no agent registered for with kUnsupportedAttribute.
// As from Linux's generate_unmatched_resp(), the request's payload comes back.
void Dispatcher::RefuseUnmatched(const Arrival& request) {
  const auto method = wire::Get<&MadHeader::method>(request.mad);
  if (method != Method::kGet && method != Method::kSet) return;

  Outgoing reply{.qp = request.qp, .to = ReplyTo(request), .mad = request.mad};
  wire::Put<&MadHeader::method>(reply.mad, Method::kGetResp);
  wire::Put<&MadHeader::status>(reply.mad, MadStatus::kUnsupportedAttribute);
  if (wire::Get<&MadHeader::mgmt_class>(reply.mad) ==
      MgmtClass::kSubnetDirectedRoute) {
    wire::Put<&Smp::direction>(reply.mad, true);
    if (StartRoute(reply.mad) != Path::kWire) return;
  }
  Transmit(reply).IgnoreError();  // as unreliable as any datagram
}

}  // namespace ibemu::mad
