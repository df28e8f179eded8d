#include "mad/rmpp_agent.h"

#include <algorithm>
#include <utility>

#include "mad/agent_core.h"

namespace ibemu::mad {
namespace {

// The wait for an ACK is the user's timeout if that is not zero and at most
// this, otherwise this.
constexpr absl::Duration kLongestAckTime = absl::Seconds(2);

// A message that takes longer to arrive is aborted.  A complete request is
// remembered for a while, to repeat its last ACK.
constexpr absl::Duration kTotalTime = absl::Seconds(40);
constexpr absl::Duration kRememberTime = absl::Seconds(10);

// The most segments that are sent at once.  A peer may open its window as wide
// as it likes, but segments must not pile up faster than they are delivered.
constexpr uint32_t kBurst = 256;

absl::Duration AckTime(absl::Duration timeout) {
  const bool reasonable =
      timeout > absl::ZeroDuration() && timeout <= kLongestAckTime;
  return reasonable ? timeout : kLongestAckTime;
}

RmppHeader RmppHeaderOf(const MadBytes& mad) {
  return wire::Decode<RmppHeader>(std::span(mad).subspan(kRmppHeaderOffset));
}

// Requires RMPP.
UnansweredSend Unanswered(const Transaction& transaction, uint64_t process) {
  const RmppSender& sender = *transaction.rmpp;
  return {.packet = transaction.packet,
          .tries = sender.tries(),
          .begin = transaction.begin,
          .process = process,
          .rmpp = RmppProgress{.segments = sender.segments(),
                               .acknowledged = sender.acknowledged()}};
}

Method Toggle(Method method) {
  return Method(static_cast<uint8_t>(method) ^ kResponseBit);
}

}  // namespace

RmppAgent::Key RmppAgent::KeyOf(const Arrival& arrival) {
  return {.tid = wire::Get<&MadHeader::tid>(arrival.mad),
          .source_qpn = arrival.source_qpn,
          .slid = arrival.slid,
          .mgmt_class = wire::Get<&MadHeader::mgmt_class>(arrival.mad),
          .class_version = wire::Get<&MadHeader::class_version>(arrival.mad),
          .method = wire::Get<&MadHeader::method>(arrival.mad)};
}

void RmppAgent::Die() {
  for (const auto& [key, receiving] : receiving_) {
    agent_.timers().Cancel(receiving->timer);
  }
  receiving_.clear();
  open_.clear();
  closed_.clear();
  open_by_peer_.clear();
}

absl::Status RmppAgent::Start(Transaction& transaction,
                              OutgoingMessage message) {
  const uint32_t window = FirstWindow(transaction, message.mad);
  transaction.rmpp = std::make_unique<RmppSender>(
      std::move(message.mad), HeaderBytes(transaction.mgmt_class), window,
      message.retries);
  transaction.rmpp->NextSegment(transaction.packet.mad);
  transaction.begin = agent_.timers().Now();
  absl::Status status = agent_.dispatcher().Transmit(transaction.packet);
  if (status.ok()) SendWindow(transaction);
  return status;
}

// Returns the number of segments to send before the first ACK.  For an answer
// it is the window that the requester gave when it acknowledged our last ACK.
uint32_t RmppAgent::FirstWindow(const Transaction& transaction,
                                Bytes message) const {
  constexpr uint32_t kFirstWindow = 1;
  const auto method = wire::Get<&MadHeader::method>(message);
  if (!IsResponse(method)) return kFirstWindow;
  const auto request = receiving_.find(
      Key{.tid = transaction.tid,
          .source_qpn = transaction.packet.to.qpn,
          .slid = transaction.packet.to.dlid,
          .mgmt_class = transaction.mgmt_class,
          .class_version = wire::Get<&MadHeader::class_version>(message),
          .method = Toggle(method)});
  if (request == receiving_.end()) return kFirstWindow;
  return std::max(request->second->answer_window, kFirstWindow);
}

void RmppAgent::SendWindow(Transaction& transaction) {
  Dispatcher& dispatcher = agent_.dispatcher();
  for (uint32_t left = kBurst;
       left > 0 && transaction.rmpp->NextSegment(transaction.packet.mad);
       --left) {
    dispatcher.Transmit(transaction.packet)
        .IgnoreError();  // the timer repeats it
  }
  Rearm(transaction);
}

void RmppAgent::Rearm(Transaction& transaction) {
  const RmppSender& sender = *transaction.rmpp;
  agent_.Arm(transaction, sender.ready() ? absl::ZeroDuration()
                          : sender.all_acknowledged()
                              ? transaction.timeout
                              : AckTime(transaction.timeout));
}

bool RmppAgent::OnTimeout(Transaction& transaction) {
  if (!transaction.rmpp->ready() && !transaction.rmpp->OnTimeout()) {
    return false;
  }
  SendWindow(transaction);
  return true;
}

std::optional<IncomingMessage> RmppAgent::OnPacket(const Arrival& arrival) {
  const RmppHeader header = RmppHeaderOf(arrival.mad);
  if (header.type == RmppType::kData) {
    // Data that no request asked for gets no reply.
    if (IsResponseMad(arrival.mad) && agent_.Match(arrival) == nullptr) {
      return std::nullopt;
    }
    if (header.version == 1) return OnData(header, arrival);
  }
  OnControl(header, arrival);
  return std::nullopt;
}

void RmppAgent::OnControl(const RmppHeader& control, const Arrival& arrival) {
  if (const auto wrong = RmppSender::Check(control)) {
    EndSend(arrival, *wrong, /*by_peer=*/false);
    Abort(arrival, *wrong);
  } else if (control.type == RmppType::kAck) {
    OnAck(control, arrival);
  } else {
    EndSend(arrival, control.status, /*by_peer=*/true);
  }
}

void RmppAgent::OnAck(const RmppHeader& ack, const Arrival& arrival) {
  Transaction* sent = agent_.Match(arrival);
  if (sent == nullptr) {
    const auto request = receiving_.find(KeyOf(arrival));
    if (ack.segment == 0 && request != receiving_.end() &&
        request->second->receiver.complete()) {
      request->second->answer_window = ack.length_or_window;
    }
    return;
  }
  if (sent->rmpp == nullptr) return;

  // The receiver's ACK of the whole message is itself acknowledged if an answer
  // is to follow in the other direction ("double-sided", IBA vol 1 §13.6.6).
  const RmppHeader turn{.type = RmppType::kAck, .length_or_window = 1};
  switch (sent->rmpp->OnAck(ack.segment, ack.length_or_window)) {
    case RmppSender::Step::kIgnore:
      break;
    case RmppSender::Step::kProgress:
      sent->begin = agent_.timers().Now();
      SendWindow(*sent);
      break;
    case RmppSender::Step::kRepeatedAck:
      Reply(arrival, turn);
      break;
    case RmppSender::Step::kSegmentTooBig:
      EndSend(arrival, RmppStatus::kSegmentTooBig, /*by_peer=*/false);
      Abort(arrival, RmppStatus::kSegmentTooBig);
      break;
    case RmppSender::Step::kAllAcknowledged:
      if (sent->timeout == absl::ZeroDuration()) {
        agent_.Finish(*sent);
      } else {
        sent->begin = agent_.timers().Now();
        Rearm(*sent);
        Reply(arrival, turn);
      }
      break;
  }
}

// Ends the send that `arrival` stops or aborts.  As in Linux, the user is not
// told that it failed, not even by a timeout.
void RmppAgent::EndSend(const Arrival& arrival, RmppStatus status,
                        bool by_peer) {
  Transaction* sent = agent_.Match(arrival);
  if (sent == nullptr || sent->rmpp == nullptr ||
      sent->rmpp->all_acknowledged()) {
    return;
  }
  UnansweredSend unanswered = Unanswered(*sent, agent_.registration().process);
  unanswered.rmpp->broken_off = status;
  unanswered.rmpp->by_peer = by_peer;
  agent_.dispatcher().TellTimeout(unanswered);
  agent_.Finish(*sent);
}

void RmppAgent::TellTimeout(const Transaction& transaction,
                            bool agent_ended) const {
  UnansweredSend unanswered =
      Unanswered(transaction, agent_.registration().process);
  unanswered.agent_ended = agent_ended;
  agent_.dispatcher().TellTimeout(unanswered);
}

std::optional<IncomingMessage> RmppAgent::OnData(const RmppHeader& data,
                                                 const Arrival& arrival) {
  if (const auto wrong = RmppReceiver::Check(data)) {
    Abort(arrival, *wrong);
    return std::nullopt;
  }
  const Key key = KeyOf(arrival);
  const auto found = receiving_.find(key);
  if (found == receiving_.end() && data.segment != 1) return std::nullopt;
  Receiving* const begun =
      found == receiving_.end() ? Begin(key, arrival) : &*found->second;
  if (begun == nullptr) return std::nullopt;
  Receiving& receiving = *begun;

  const RmppReceiver::Outcome outcome =
      receiving.receiver.OnData(data, arrival.mad);
  if (outcome.reply) Reply(arrival, *outcome.reply);
  if (!outcome.complete) return std::nullopt;

  IncomingMessage message = Envelope(receiving.first);
  message.mad = receiving.receiver.TakeMessage();
  Close(receiving);
  if (IsResponseMad(arrival.mad)) {
    Forget(receiving);  // further segments match no outstanding request
  } else {
    Remember(receiving);
  }
  return message;
}

RmppAgent::Receiving* RmppAgent::Begin(const Key& key, const Arrival& arrival) {
  uint32_t& open = open_by_peer_[key.slid];
  if (open == kMaxFromPeer) return nullptr;
  ++open;
  Receiving& receiving = open_.emplace_back(key, arrival);
  receiving_[key] = std::prev(open_.end());
  receiving.timer = agent_.timers().RunAfter(
      kTotalTime, [this, &receiving] { OnTotalTime(receiving); });
  return &receiving;
}

void RmppAgent::Close(const Receiving& receiving) {
  const auto peer = open_by_peer_.find(receiving.key.slid);
  if (--peer->second == 0) open_by_peer_.erase(peer);
  closed_.splice(closed_.end(), open_, receiving_.at(receiving.key));
}

// Remembers a complete request, because its sender may miss the last ACK.
void RmppAgent::Remember(Receiving& receiving) {
  agent_.timers().Cancel(receiving.timer);
  receiving.timer = agent_.timers().RunAfter(
      kRememberTime, [this, &receiving] { Forget(receiving); });
  if (closed_.size() > kMaxRemembered) Forget(closed_.front());
}

void RmppAgent::OnTotalTime(const Receiving& receiving) {
  Abort(receiving.first, RmppStatus::kTotalTimeTooLong);
  Close(receiving);
  Forget(receiving);
}

void RmppAgent::Forget(const Receiving& receiving) {
  agent_.timers().Cancel(receiving.timer);
  const auto found = receiving_.find(receiving.key);
  const auto place = found->second;
  receiving_.erase(found);
  closed_.erase(place);
}

void RmppAgent::Reply(const Arrival& to, const RmppHeader& header) {
  const size_t header_bytes =
      HeaderBytes(wire::Get<&MadHeader::mgmt_class>(to.mad));
  Outgoing packet{.qp = to.qp, .to = ReplyTo(to)};
  std::copy_n(to.mad.begin(), header_bytes, packet.mad.begin());
  wire::Put<&MadHeader::method>(packet.mad,
                                Toggle(wire::Get<&MadHeader::method>(to.mad)));
  RmppHeader full = header;
  full.resp_time = RmppHeaderOf(to.mad).resp_time;
  wire::Encode(full, std::span(packet.mad).subspan(kRmppHeaderOffset));
  // A reply may be lost: the peer repeats what it gets no answer to.
  agent_.dispatcher().Transmit(packet).IgnoreError();
}

void RmppAgent::Abort(const Arrival& of, RmppStatus status) {
  Reply(of, {.type = RmppType::kAbort, .status = status});
}

}  // namespace ibemu::mad
