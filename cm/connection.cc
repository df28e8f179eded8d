#include "cm/connection.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "cm/cm_mad.h"
#include "cm/private_data.h"
#include "cm/received_req.h"
#include "cm/sent_req.h"
#include "cm/timeouts.h"

namespace ibemu::cm {
namespace {

absl::Status WrongState() {
  return absl::InvalidArgumentError("not in this state of the connection");
}

// Copies what the caller has checked to fit.
template <size_t kRoom>
void Copy(std::span<const std::byte> data, std::array<std::byte, kRoom>& to) {
  std::ranges::copy(data.first(std::min(data.size(), kRoom)), to.begin());
}

template <class M>
Sending First(const M& message, uint64_t tid, uint32_t attr_mod = 0) {
  return {.message = M::kMessage, .mad = MakeMad(message, tid, attr_mod)};
}

template <class M>
CmEvent EventOf(CmEvent::Kind kind, const M& message) {
  CmEvent event{.kind = kind};
  event.private_data.assign(message.private_data.begin(),
                            message.private_data.end());
  return event;
}

}  // namespace

bool Connection::AwaitsRep() const {
  return state_ == State::kReqSent || state_ == State::kMraReqReceived;
}

std::optional<Peer> Connection::peer() const {
  if (state_ < State::kReqReceived || state_ > State::kDreqReceived) {
    return std::nullopt;
  }
  return Peer{
      .ca = remote_ca_, .comm_id = remote_comm_id_, .qpn = qp_.remote_qpn};
}

std::optional<absl::Time> Connection::deadline() const {
  if (outstanding_) return outstanding_->deadline();
  return timewait_end_;
}

// TID of a request: cm_form_tid().
uint64_t Connection::OwnTid() const {
  return uint64_t{qp_.route.high_tid} << 32 | local_.comm_id;
}

Sending Connection::Start(absl::Time now, const Sending& sending) {
  outstanding_.emplace(sending, now, response_timeout_, max_retries_);
  return sending;
}

void Connection::GoIdle() {
  state_ = State::kIdle;
  outstanding_.reset();
  timewait_end_.reset();
}

void Connection::EnterTimewait(absl::Time now) {
  state_ = State::kTimewait;
  outstanding_.reset();
  timewait_end_ = now + TimeOf(qp_.timeout);
}

// --- Calls.

absl::StatusOr<Sending> Connection::SendReq(absl::Time now,
                                            const CmRequest& request,
                                            const Route& route) {
  if (state_ != State::kIdle) return WrongState();
  IBEMU_ASSIGN_OR_RETURN(const Req req, ReqOf(local_, request));
  const mad::PathRecord& path = request.path;
  qp_ = {.type = request.qp_type,
         .route = route,
         .dlid = route.to.dlid,
         .qpn = request.qpn,
         .receive_psn = request.starting_psn,
         .responder_resources = request.responder_resources,
         .initiator_depth = request.initiator_depth,
         .retry_count = request.retry_count,
         .timeout = static_cast<uint8_t>(path.packet_life_time + 1)};
  tid_ = OwnTid();
  remote_comm_id_ = 0;
  response_timeout_ =
      2 * TimeOf(path.packet_life_time) + TimeOf(kResponseTimeout);
  max_retries_ = kMaxRetries;
  state_ = State::kReqSent;
  return Start(now, First(req, tid_, request.ece.attr_mod));
}

absl::StatusOr<Sending> Connection::SendRep(absl::Time now,
                                            const CmReply& reply) {
  if (state_ != State::kReqReceived && state_ != State::kMraReqSent) {
    return WrongState();
  }
  const uint32_t vendor = reply.ece.vendor_id;
  Rep rep{.local_comm_id = local_.comm_id,
          .remote_comm_id = remote_comm_id_,
          .local_qpn = reply.qpn,
          .vendor_id_high = static_cast<uint8_t>(vendor >> 16),
          .vendor_id_middle = static_cast<uint8_t>(vendor >> 8),
          .starting_psn = reply.starting_psn,
          .vendor_id_low = static_cast<uint8_t>(vendor),
          .responder_resources = reply.responder_resources,
          .initiator_depth = reply.initiator_depth,
          .target_ack_delay = local_.ca_ack_delay,
          .failover = alternate_path_asked_ ? Failover::kUnsupported
                                            : Failover::kAccepted,
          .end_to_end_flow_control = reply.flow_control,
          .rnr_retry_count = reply.rnr_retry_count,
          .srq = reply.srq,
          .local_ca_guid = local_.ca_guid};
  IBEMU_RETURN_IF_ERROR(FillPrivateData(reply.private_data, rep.private_data));
  qp_.qpn = reply.qpn & 0xffffff;
  qp_.receive_psn = reply.starting_psn & 0xffffff;
  qp_.responder_resources = reply.responder_resources;
  qp_.initiator_depth = reply.initiator_depth;
  state_ = State::kRepSent;
  return Start(now, First(rep, tid_, reply.ece.attr_mod));
}

absl::StatusOr<Sending> Connection::SendRtu(
    std::span<const std::byte> private_data) {
  if (state_ != State::kRepReceived && state_ != State::kMraRepSent) {
    return WrongState();
  }
  Rtu room;
  IBEMU_RETURN_IF_ERROR(FillPrivateData(private_data, room.private_data));
  private_data_.assign(private_data.begin(), private_data.end());
  state_ = State::kEstablished;
  return MakeRtu(Sending::Kind::kFirst);
}

absl::StatusOr<Sending> Connection::SendRej(
    absl::Time now, RejectReason reason, std::span<const std::byte> info,
    std::span<const std::byte> private_data) {
  Rej room;
  IBEMU_RETURN_IF_ERROR(FillPrivateData(info, room.info));
  IBEMU_RETURN_IF_ERROR(FillPrivateData(private_data, room.private_data));
  switch (state_) {
    case State::kReqSent:
    case State::kMraReqReceived:
    case State::kReqReceived:
    case State::kMraReqSent:
    case State::kRepReceived:
    case State::kMraRepSent: {
      Sending rej = MakeRej(reason, info, private_data);
      GoIdle();
      return rej;
    }
    case State::kRepSent:
    case State::kMraRepReceived: {
      Sending rej = MakeRej(reason, info, private_data);
      EnterTimewait(now);
      return rej;
    }
    default:
      return WrongState();
  }
}

absl::StatusOr<Sending> Connection::SendDreq(
    absl::Time now, std::span<const std::byte> private_data) {
  if (state_ != State::kEstablished) return WrongState();
  Dreq dreq{.local_comm_id = local_.comm_id,
            .remote_comm_id = remote_comm_id_,
            .remote_qpn = qp_.remote_qpn};
  IBEMU_RETURN_IF_ERROR(FillPrivateData(private_data, dreq.private_data));
  state_ = State::kDreqSent;
  return Start(now, First(dreq, OwnTid()));
}

absl::StatusOr<Sending> Connection::SendDrep(
    absl::Time now, std::span<const std::byte> private_data) {
  if (state_ != State::kDreqReceived) return WrongState();
  Drep room;
  IBEMU_RETURN_IF_ERROR(FillPrivateData(private_data, room.private_data));
  private_data_.assign(private_data.begin(), private_data.end());
  EnterTimewait(now);
  return MakeDrep(Sending::Kind::kFirst, tid_);
}

absl::Status Connection::PrepareMra() {
  switch (state_) {
    case State::kReqReceived:
      state_ = State::kMraReqSent;
      return absl::OkStatus();
    case State::kRepReceived:
      state_ = State::kMraRepSent;
      return absl::OkStatus();
    default:
      return WrongState();
  }
}

absl::Status Connection::NotifyEstablished() {
  switch (state_) {
    case State::kRepSent:
    case State::kMraRepReceived:
      state_ = State::kEstablished;
      outstanding_.reset();
      return absl::OkStatus();
    case State::kEstablished:
      return absl::AlreadyExistsError("the connection is established");
    default:
      return WrongState();
  }
}

absl::Status Connection::NotifyMigrated() const {
  return state_ == State::kEstablished ? absl::OkStatus() : WrongState();
}

absl::StatusOr<verbs::QpAttributes> Connection::QpAttributesFor(
    verbs::QpState state, std::optional<uint8_t> ack_timeout) const {
  const bool peer_known =
      (state_ >= State::kReqReceived && state_ <= State::kEstablished);
  if (state == verbs::QpState::kInit && (peer_known || AwaitsRep())) {
    return qp_.ForInit();
  }
  if (state == verbs::QpState::kReadyToReceive && peer_known) {
    return qp_.ForReadyToReceive();
  }
  if (state == verbs::QpState::kReadyToSend && peer_known) {
    return qp_.ForReadyToSend(ack_timeout);
  }
  return WrongState();
}

std::optional<Sending> Connection::Destroy(absl::Time now) {
  std::optional<Sending> last;
  if (AwaitsRep()) {
    std::array<std::byte, wire::kBytes<TimeoutInfo>> info;
    wire::Encode(TimeoutInfo{.ca_guid = local_.ca_guid}, info);
    last = MakeRej(RejectReason::kTimeout, info, {});
  } else if (EndsByRej(state_)) {
    last = MakeRej(RejectReason::kConsumerDefined, {}, {});
  } else if (state_ == State::kEstablished) {
    last = *SendDreq(now, {});
  } else if (state_ == State::kDreqReceived) {
    last = *SendDrep(now, {});
  }
  GoIdle();
  return last;
}

// --- Messages.

void Connection::OnReq(const mad::MadHeader& header, const Req& req,
                       const Route& route) {
  tid_ = header.tid;
  remote_comm_id_ = req.local_comm_id;
  remote_ca_ = req.local_ca_guid;
  alternate_path_asked_ = req.alternate.local_lid != wire::Lid::kUnassigned;
  qp_ = {.type = QpTypeOf(req),
         .route = route,
         .dlid = req.primary.local_lid,
         .remote_qpn = req.local_qpn,
         .send_psn = req.starting_psn,
         .responder_resources = req.initiator_depth,
         .initiator_depth = req.responder_resources,
         .retry_count = req.retry_count,
         .rnr_retry_count = req.rnr_retry_count,
         .timeout = static_cast<uint8_t>(route.packet_life_time + 1)};
  response_timeout_ = TimeOf(req.local_cm_response_timeout);
  max_retries_ = req.max_cm_retries;
  state_ = State::kReqReceived;
}

Step Connection::OnDuplicateReq() {
  Step step{.duplicate = true};
  if (state_ == State::kMraReqSent) step.send = MakeMra(About::kReq);
  return step;
}

Step Connection::OnRep(const mad::MadHeader& header, const Rep& rep) {
  remote_comm_id_ = rep.local_comm_id;
  remote_ca_ = rep.local_ca_guid;
  qp_.remote_qpn = rep.local_qpn;
  qp_.send_psn = rep.starting_psn;
  qp_.initiator_depth = rep.responder_resources;
  qp_.responder_resources = rep.initiator_depth;
  qp_.rnr_retry_count = rep.rnr_retry_count;
  qp_.timeout = AckTimeout(rep.target_ack_delay, qp_.timeout - 1);
  state_ = State::kRepReceived;
  outstanding_.reset();

  CmEvent event = EventOf(CmEvent::Kind::kRep, rep);
  event.reply = {.qpn = rep.local_qpn,
                 .starting_psn = rep.starting_psn,
                 .responder_resources = rep.responder_resources,
                 .initiator_depth = rep.initiator_depth,
                 .flow_control = rep.end_to_end_flow_control,
                 .rnr_retry_count = rep.rnr_retry_count,
                 .srq = rep.srq,
                 .ece = {.vendor_id = uint32_t{rep.vendor_id_high} << 16 |
                                      uint32_t{rep.vendor_id_middle} << 8 |
                                      rep.vendor_id_low,
                         .attr_mod = header.attr_mod}};
  return {.event = std::move(event)};
}

Step Connection::OnDuplicateRep() {
  Step step{.duplicate = true};
  if (state_ == State::kEstablished) {
    step.send = MakeRtu(Sending::Kind::kResponse);
  } else if (state_ == State::kMraRepSent) {
    step.send = MakeMra(About::kRep);
  }
  return step;
}

Step Connection::OnMra(absl::Time now, const Mra& mra) {
  const bool of_req = mra.message_mraed == About::kReq;
  const bool of_rep = mra.message_mraed == About::kRep;
  if ((state_ == State::kReqSent && of_req) ||
      (state_ == State::kRepSent && of_rep)) {
    state_ = of_req ? State::kMraReqReceived : State::kMraRepReceived;
    outstanding_->Extend(now,
                         TimeOf(mra.service_timeout) + TimeOf(qp_.timeout));
    return {};
  }
  return {.duplicate = state_ == State::kMraReqReceived ||
                       state_ == State::kMraRepReceived};
}

Step Connection::OnRtu(const Rtu& rtu) {
  if (state_ != State::kRepSent && state_ != State::kMraRepReceived) {
    return {.duplicate = true};
  }
  state_ = State::kEstablished;
  outstanding_.reset();
  return {.event = EventOf(CmEvent::Kind::kRtu, rtu)};
}

Step Connection::OnRej(absl::Time now, const Rej& rej) {
  switch (state_) {
    case State::kReqSent:
    case State::kMraReqReceived:
    case State::kReqReceived:
    case State::kMraReqSent:
    case State::kRepSent:
    case State::kMraRepReceived:
      if (rej.reason == static_cast<uint16_t>(RejectReason::kStaleConnection)) {
        EnterTimewait(now);
      } else {
        GoIdle();
      }
      break;
    case State::kRepReceived:
    case State::kMraRepSent:
    case State::kEstablished:
    case State::kDreqSent:
      EnterTimewait(now);
      break;
    default:
      return {};
  }
  CmEvent event = EventOf(CmEvent::Kind::kRej, rej);
  event.reason = rej.reason;
  return {.event = std::move(event)};
}

Step Connection::OnDreq(const mad::MadHeader& header, const Dreq& dreq) {
  if (dreq.remote_qpn != qp_.qpn) return {};
  switch (state_) {
    case State::kRepSent:
    case State::kMraRepReceived:
    case State::kEstablished:
    case State::kDreqSent:
      state_ = State::kDreqReceived;
      outstanding_.reset();
      tid_ = header.tid;
      return {.event = EventOf(CmEvent::Kind::kDreq, dreq)};
    case State::kTimewait:
      return {.send = MakeDrep(Sending::Kind::kResponse, header.tid),
              .duplicate = true};
    case State::kDreqReceived:
      return {.duplicate = true};
    default:
      return {};
  }
}

Step Connection::OnDrep(absl::Time now, const Drep& drep) {
  if (state_ != State::kDreqSent && state_ != State::kDreqReceived) return {};
  EnterTimewait(now);
  return {.event = EventOf(CmEvent::Kind::kDrep, drep)};
}

Step Connection::OnTimer(absl::Time now) {
  if (outstanding_) {
    if (const std::optional<Sending> again = outstanding_->OnTimer(now)) {
      return {.send = again};
    }
  }
  switch (state_) {
    case State::kReqSent:
    case State::kMraReqReceived:
      GoIdle();
      return {.event = CmEvent{.kind = CmEvent::Kind::kReqError}};
    case State::kRepSent:
    case State::kMraRepReceived:
      GoIdle();
      return {.event = CmEvent{.kind = CmEvent::Kind::kRepError}};
    case State::kDreqSent:
      EnterTimewait(now);
      return {.event = CmEvent{.kind = CmEvent::Kind::kDreqError}};
    default:  // kTimewait: there is no other timer
      GoIdle();
      return {.event = CmEvent{.kind = CmEvent::Kind::kTimewaitExit}};
  }
}

// --- Messages to send.

Sending Connection::MakeMra(About about) const {
  const Mra mra{.local_comm_id = local_.comm_id,
                .remote_comm_id = remote_comm_id_,
                .message_mraed = about,
                .service_timeout = kMraServiceTimeout};
  return {.message = Message::kMra,
          .kind = Sending::Kind::kResponse,
          .mad = MakeMad(mra, tid_)};
}

Sending Connection::MakeRtu(Sending::Kind kind) const {
  Rtu rtu{.local_comm_id = local_.comm_id, .remote_comm_id = remote_comm_id_};
  Copy(private_data_, rtu.private_data);
  return {.message = Message::kRtu, .kind = kind, .mad = MakeMad(rtu, tid_)};
}

// cm_format_rej()
Sending Connection::MakeRej(RejectReason reason,
                            std::span<const std::byte> info,
                            std::span<const std::byte> private_data) const {
  Rej rej{.local_comm_id = local_.comm_id,
          .remote_comm_id = remote_comm_id_,
          .message_rejected = About::kLapOrOther,
          .info_length = static_cast<uint8_t>(info.size()),
          .reason = static_cast<uint16_t>(reason)};
  switch (state_) {
    case State::kReqReceived:
      rej.local_comm_id = 0;
      rej.message_rejected = About::kReq;
      break;
    case State::kMraReqSent:
      rej.message_rejected = About::kReq;
      break;
    case State::kRepReceived:
    case State::kMraRepSent:
      rej.message_rejected = About::kRep;
      break;
    default:
      break;
  }
  Copy(info, rej.info);
  Copy(private_data, rej.private_data);
  return First(rej, tid_);
}

Sending Connection::MakeDrep(Sending::Kind kind, uint64_t tid) const {
  Drep drep{.local_comm_id = local_.comm_id, .remote_comm_id = remote_comm_id_};
  Copy(private_data_, drep.private_data);
  return {.message = Message::kDrep, .kind = kind, .mad = MakeMad(drep, tid)};
}

}  // namespace ibemu::cm
