#include "mad/agent_core.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_format.h"
#include "mad/mad_class.h"

namespace ibemu::mad {
namespace {

absl::Status GoneError() {
  return absl::UnavailableError("the device is gone");
}

// Returns true if two answers go to the same place: same_destination() in
// Linux.  Answers that go to different places may share a TID.
bool SameDestination(const AddressVector& a, const AddressVector& b) {
  if (a.grh.has_value() != b.grh.has_value()) return false;
  return a.grh ? a.grh->gid == b.grh->gid : a.dlid == b.dlid;
}

// Checks the length and class of what an agent wants to send.
absl::Status CheckFormat(const OutgoingMessage& message,
                         const Registration& agent, bool rmpp_active) {
  const size_t bytes = message.mad.size();
  if (bytes < kRmppHeaderBytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "MAD of %d bytes: its headers take %d", bytes, kRmppHeaderBytes));
  }
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(message.mad);
  if (bytes < HeaderBytes(mgmt_class)) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "MAD of %d bytes: the headers of class 0x%02x take %d", bytes,
        static_cast<int>(mgmt_class), HeaderBytes(mgmt_class)));
  }
  if (agent.rmpp_version != 0 && !IsRmppClass(mgmt_class)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("class 0x%02x has no RMPP, which this agent is for",
                        static_cast<int>(mgmt_class)));
  }
  if (!rmpp_active && bytes > kMadBytes) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "MAD of %d bytes: without RMPP it has at most %d", bytes, kMadBytes));
  }
  return absl::OkStatus();
}

}  // namespace

IncomingMessage Envelope(const Arrival& arrival) {
  IncomingMessage message{.qp = arrival.qp,
                          .slid = arrival.slid,
                          .sl = arrival.sl,
                          .path_bits = arrival.path_bits,
                          .pkey_index = arrival.pkey_index,
                          .source_qpn = arrival.source_qpn,
                          .grh = arrival.grh};
  // The received hop limit is not kept: Linux sets it as the answer needs it.
  if (message.grh) message.grh->hop_limit = 0xff;
  return message;
}

AgentCore::AgentCore(Dispatcher& dispatcher, const Registration& registration,
                     uint32_t high_tid, AgentClient& client)
    : dispatcher_(dispatcher),
      registration_(registration),
      high_tid_(high_tid),
      client_(client) {
  if (registration.rmpp_version != 0 && !registration.user_rmpp) {
    rmpp_ = std::make_unique<RmppAgent>(*this);
  }
  dispatcher_.host().Enter(*this);
}

AgentCore::~AgentCore() {
  sent_.ForEach([this](const Transaction& transaction) {
    TellTimeout(transaction, /*agent_ended=*/true);
  });
  Die();
  dispatcher_.registry().Remove(*this, registration_);
  dispatcher_.host().Leave(*this);
}

void AgentCore::Die() {
  sent_.ForEach([this](Transaction& t) { timers().Cancel(t.timer); });
  sent_.Clear();
  if (rmpp_ != nullptr) rmpp_->Die();
}

absl::Status AgentCore::Send(OutgoingMessage message) {
  if (dispatcher_.host().removed()) return GoneError();

  const bool rmpp_active =
      rmpp_ != nullptr && message.mad.size() >= kRmppHeaderBytes &&
      IsRmppClass(wire::Get<&MadHeader::mgmt_class>(message.mad)) &&
      IsRmppActive(message.mad);
  if (absl::Status status = CheckFormat(message, registration_, rmpp_active);
      !status.ok()) {
    return status;
  }
  if (message.to.grh &&
      message.to.grh->gid_index >= dispatcher_.port().GidCount()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "GID index %d: the port has %d GIDs", message.to.grh->gid_index,
        dispatcher_.port().GidCount()));
  }
  if (!registration_.tid_as_given && !IsResponseMad(message.mad)) {
    const uint64_t tid = wire::Get<&MadHeader::tid>(message.mad);
    wire::Put<&MadHeader::tid>(message.mad,
                               uint64_t{high_tid_} << 32 | (tid & 0xffffffff));
  }
  if (IsDuplicate(message)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("TID 0x%016x is still under way",
                        wire::Get<&MadHeader::tid>(message.mad)));
  }

  Outgoing packet{.qp = registration_.qp, .to = message.to};
  packet.to.qkey = packet.qp == 0 ? 0 : kQp1QKey;
  if (!rmpp_active) return SendPlain(message, packet);

  Transaction& transaction = Open(packet, message);
  absl::Status status = rmpp_->Start(transaction, std::move(message));
  if (!status.ok()) Close(transaction);
  return status;
}

void AgentCore::Cancel(uint32_t low_tid) {
  const uint64_t tid = uint64_t{high_tid_} << 32 | low_tid;
  for (;;) {
    const auto sent = sent_.With(tid);
    const auto request =
        std::find_if(sent.begin(), sent.end(),
                     [](const auto& each) { return !each->is_response; });
    if (request == sent.end()) return;
    Close(**request);
  }
}

absl::Status AgentCore::SendPlain(const OutgoingMessage& message,
                                  Outgoing& packet) {
  std::copy(message.mad.begin(), message.mad.end(), packet.mad.begin());
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(packet.mad);
  if (rmpp_ != nullptr) {
    // The RMPP header belongs to the core, also where it is not used.
    std::fill(packet.mad.begin() + kMadHeaderBytes,
              packet.mad.begin() + kRmppHeaderBytes, std::byte{0});
  }
  if (mgmt_class == MgmtClass::kSubnetDirectedRoute) {
    switch (dispatcher_.StartRoute(packet.mad)) {
      case Dispatcher::Path::kRefused:
        return absl::InvalidArgumentError("this directed route is not ours");
      case Dispatcher::Path::kLocal:
        dispatcher_.SendLocally(packet, *this);
        dispatcher_.host().SendDoneSoon(high_tid_, message.cookie);
        return absl::OkStatus();
      case Dispatcher::Path::kWire:
        break;
    }
  }
  const absl::Time begin = timers().Now();
  absl::Status status = dispatcher_.Transmit(packet);
  if (!status.ok()) return status;
  if (message.timeout > absl::ZeroDuration()) {
    Transaction& transaction = Open(packet, message);
    transaction.begin = begin;
    Arm(transaction, message.timeout);
  } else {
    dispatcher_.host().SendDoneSoon(high_tid_, message.cookie);
  }
  return absl::OkStatus();
}

Transaction& AgentCore::Open(const Outgoing& packet,
                             const OutgoingMessage& message) {
  Transaction& transaction = sent_.Add(wire::Get<&MadHeader::tid>(message.mad));
  transaction.mgmt_class = wire::Get<&MadHeader::mgmt_class>(message.mad);
  transaction.is_response = IsResponseMad(message.mad);
  transaction.cookie = message.cookie;
  transaction.timeout = message.timeout;
  transaction.retries_left = message.retries;
  transaction.tries = 1;
  transaction.packet = packet;
  return transaction;
}

// Returns true for a duplicate, as Linux's is_duplicate().  Where the user
// makes the RMPP packets, several of them rightly have the same TID.
bool AgentCore::IsDuplicate(const OutgoingMessage& wanted) const {
  const auto same_tid = sent_.With(wire::Get<&MadHeader::tid>(wanted.mad));
  if (same_tid.empty()) return false;
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(wanted.mad);
  if (rmpp_ == nullptr && IsRmppClass(mgmt_class) && IsRmppActive(wanted.mad)) {
    return false;
  }
  const bool is_response = IsResponseMad(wanted.mad);
  return std::any_of(same_tid.begin(), same_tid.end(), [&](const auto& sent) {
    return sent->mgmt_class == mgmt_class && sent->is_response == is_response &&
           (!is_response || SameDestination(sent->packet.to, wanted.to));
  });
}

void AgentCore::DeliverLocal(IncomingMessage message) {
  if (Snoops& snoops = *dispatcher_.snoops(); !snoops.empty()) {
    Arrival arrival{.qp = message.qp,
                    .slid = message.slid,
                    .pkey_index = message.pkey_index};
    std::copy(message.mad.begin(), message.mad.end(), arrival.mad.begin());
    snoops.Received(arrival);
  }
  client_.OnMad(*this, std::move(message));
}

void AgentCore::OnArrival(const Arrival& arrival) {
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(arrival.mad);
  const bool rmpp_active = IsRmppClass(mgmt_class) && IsRmppActive(arrival.mad);
  const bool is_response = IsResponseMad(arrival.mad);

  IncomingMessage message;
  if (rmpp_ != nullptr && rmpp_active) {
    std::optional<IncomingMessage> whole = rmpp_->OnPacket(arrival);
    if (!whole) return;
    message = *std::move(whole);
  } else {
    message = Envelope(arrival);
  }
  if (is_response) {
    if (Transaction* sent = Match(arrival)) {
      dispatcher_.TellAnswer(
          {.packet = sent->packet,
           .tries = sent->tries,
           .begin = sent->begin,
           .status = wire::Get<&MadHeader::status>(arrival.mad),
           .process = registration_.process});
      Finish(*sent);
    } else if (rmpp_ != nullptr || !rmpp_active) {
      return;
    }
  }
  if (message.mad.empty()) {
    message.mad.assign(arrival.mad.begin(), arrival.mad.end());
  }
  client_.OnMad(*this, std::move(message));
}

Transaction* AgentCore::Match(const Arrival& arrival) const {
  const auto mgmt_class = wire::Get<&MadHeader::mgmt_class>(arrival.mad);
  const bool is_response = IsResponseMad(arrival.mad);
  for (const auto& sent : sent_.With(wire::Get<&MadHeader::tid>(arrival.mad))) {
    if (sent->mgmt_class == mgmt_class &&
        (mgmt_class == MgmtClass::kSubnetDirectedRoute ||
         AddressesMatch(*sent, arrival, is_response))) {
      return sent.get();
    }
  }
  return nullptr;
}

// Compares the addresses as rcv_has_same_gid() in Linux, which compares less
// than its name says.
bool AgentCore::AddressesMatch(const Transaction& sent, const Arrival& arrival,
                               bool is_response) const {
  const AddressVector& to = sent.packet.to;
  if (to.grh.has_value() != arrival.grh.has_value()) return false;
  if (sent.is_response == is_response) return false;
  if (!is_response) {  // an ACK of our answer
    return to.grh ? to.grh->gid == arrival.grh->gid : to.dlid == arrival.slid;
  }
  if (to.grh) {
    const Port& port = dispatcher_.port();
    return port.GidAt(to.grh->gid_index) == port.GidAt(arrival.grh->gid_index);
  }
  const unsigned own_bits = (1u << dispatcher_.lmc()) - 1;
  return ((to.path_bits ^ arrival.path_bits) & own_bits) == 0;
}

void AgentCore::Arm(Transaction& transaction, absl::Duration timeout) {
  timers().Cancel(transaction.timer);
  transaction.timer = timers().RunAfter(
      timeout, [this, &transaction] { OnTimeout(transaction); });
}

void AgentCore::OnTimeout(Transaction& transaction) {
  transaction.timer = TimerId::kNone;
  if (transaction.rmpp != nullptr) {
    if (rmpp_->OnTimeout(transaction)) return;
  } else if (transaction.retries_left > 0) {
    --transaction.retries_left;
    ++transaction.tries;
    dispatcher_.Transmit(transaction.packet).IgnoreError();
    Arm(transaction, transaction.timeout);
    return;
  }
  TellTimeout(transaction, /*agent_ended=*/false);
  const uint64_t cookie = transaction.cookie;
  Close(transaction);
  client_.OnSendTimeout(*this, cookie);
}

void AgentCore::TellTimeout(const Transaction& transaction, bool agent_ended) {
  if (transaction.rmpp != nullptr) {
    rmpp_->TellTimeout(transaction, agent_ended);
  } else if (!transaction.is_response) {
    dispatcher_.TellTimeout({.packet = transaction.packet,
                             .tries = transaction.tries,
                             .begin = transaction.begin,
                             .agent_ended = agent_ended,
                             .process = registration_.process});
  }
}

void AgentCore::Finish(Transaction& transaction) {
  const uint64_t cookie = transaction.cookie;
  Close(transaction);
  client_.OnSendDone(*this, cookie);
}

void AgentCore::Close(Transaction& transaction) {
  timers().Cancel(transaction.timer);
  sent_.Remove(transaction);
}

}  // namespace ibemu::mad
