#include "cm/cm_port.h"

#include <cstddef>
#include <utility>

#include "absl/status/statusor.h"
#include "cm/cm_mad.h"

namespace ibemu::cm {
namespace {

mad::Registration CommunicationClass() {
  mad::Registration registration{
      .qp = 1,
      .mgmt_class = static_cast<uint8_t>(mad::MgmtClass::kCommunication),
      .mgmt_class_version = kClassVersion,
      .tid_as_given = true};
  registration.methods.set(static_cast<size_t>(mad::Method::kSend));
  return registration;
}

}  // namespace

CmPort::CmPort(mad::Host& host, int number, Receiver& receiver)
    : number_(number), receiver_(receiver) {
  auto agent = host.Register(number, CommunicationClass(), *this);
  if (agent.ok()) agent_ = *std::move(agent);
}

void CmPort::CountDuplicate(Message which) {
  ++counters_.rx_duplicates[static_cast<size_t>(which)];
}

void CmPort::Send(const Sending& sending, const mad::AddressVector& to) {
  if (!usable()) return;
  // As cm_send_handler() counts: what answers a message that came twice counts
  // as a message and a retry, a REJ apart.  Linux counts when a send is over.
  const bool is_retry = sending.kind == Sending::Kind::kRepeat;
  const bool by_hand = sending.kind == Sending::Kind::kResponse &&
                       sending.message != Message::kRej;
  const auto index = static_cast<size_t>(sending.message);
  counters_.tx_msgs[index] += by_hand ? 2 : 1;
  counters_.tx_retries[index] += is_retry || by_hand ? 1 : 0;
  agent_->Send({.to = to, .mad = {sending.mad.begin(), sending.mad.end()}})
      .IgnoreError();
}

void CmPort::OnMad(mad::Agent&, mad::IncomingMessage message) {
  const std::optional<Message> which = MessageOf(message.mad);
  if (!which) return;
  ++counters_.rx_msgs[static_cast<size_t>(*which)];
  receiver_.OnCmMad(*this, *which, message);
}

}  // namespace ibemu::cm
