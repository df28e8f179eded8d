#include "hca/model/mlx4/transport/rc_requester.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "hca/model/mlx4/transport/outgoing_message.h"
#include "wire/opcode.h"
#include "wire/psn.h"
#include "wire/rnr_timer.h"

namespace ibemu::hca::model::mlx4 {

using prm::CqeSyndrome;
using prm::WqeOpcode;

namespace {

// The maximum number of packets in flight.
constexpr int32_t kWindow = 64;
// One in so many packets asks for an acknowledgement.
constexpr uint32_t kAckInterval = 16;
constexpr int kRetryForEver = 7;
constexpr uint32_t kAtomicBytes = 8;

bool IsAtomic(WqeOpcode opcode) {
  return opcode == WqeOpcode::kCompareSwap || opcode == WqeOpcode::kFetchAdd;
}

bool IsLocal(WqeOpcode opcode) {
  return opcode == WqeOpcode::kNop || opcode == WqeOpcode::kFastRegister ||
         opcode == WqeOpcode::kLocalInvalidate;
}

}  // namespace

bool RcRequester::Request::awaits_response() const {
  return wqe.control.opcode == WqeOpcode::kRdmaRead ||
         IsAtomic(wqe.control.opcode);
}

void RcRequester::Start(uint32_t psn) {
  next_psn_ = send_psn_ = oldest_psn_ = psn;
  retries_ = link_.qp().retry_count;
  rnr_retries_ = link_.qp().rnr_retry;
}

int RcRequester::OpenReads() const {
  return static_cast<int>(std::ranges::count_if(
      open_, [](const Request& request) { return request.awaits_response(); }));
}

CqeSyndrome RcRequester::Check(const SendWqe& wqe) const {
  const WqeOpcode opcode = wqe.control.opcode;
  const bool known = IsMessage(opcode) || IsAtomic(opcode) ||
                     opcode == WqeOpcode::kSendInvalidate ||
                     opcode == WqeOpcode::kRdmaRead || IsLocal(opcode);
  if (!known) return CqeSyndrome::kLocalQpOperation;
  const bool fits = wqe.length <= uint64_t{1} << link_.qp().log_msg_max &&
                    (!IsAtomic(opcode) || wqe.length == kAtomicBytes);
  return fits ? CqeSyndrome::kNone : CqeSyndrome::kLocalLength;
}

bool RcRequester::Open() {
  // A request that can't be sent, or that needs no peer, ends after those
  // before it.  Until then no other request is opened.
  if (!open_.empty() &&
      (open_.back().error != CqeSyndrome::kNone || open_.back().packets == 0)) {
    return false;
  }
  // The next WQE might be one more RDMA READ or atomic operation, which would
  // exceed the limit, and a fetched WQE can't be put back.
  if (OpenReads() >= 1 << link_.qp().log_sra_max) return false;
  Request request;
  request.psn = next_psn_;
  switch (link_.FetchSend(request.wqe)) {
    case ModelSendQueue::Fetched::kNone:
      return false;
    case ModelSendQueue::Fetched::kFault:
      link_.Break(prm::EqeType::kWqCatastrophicError);
      return false;
    case ModelSendQueue::Fetched::kMalformed:
      request.error = CqeSyndrome::kLocalQpOperation;
      break;
    case ModelSendQueue::Fetched::kWqe:
      request.error = Check(request.wqe);
      break;
  }
  const WqeOpcode opcode = request.wqe.control.opcode;
  if (request.error == CqeSyndrome::kNone && !IsLocal(opcode)) {
    request.packets = IsAtomic(opcode)
                          ? 1
                          : wire::PacketsFor(request.wqe.length, link_.mtu());
  }
  next_psn_ = request.end();
  open_.push_back(std::move(request));
  EndLocal();
  return !broken_;
}

void RcRequester::Pump() {
  while (!waiting_ && !broken_) {
    if (wire::PsnDistance(send_psn_, oldest_psn_) >= kWindow) break;
    if (send_psn_ == next_psn_) {
      if (!Open()) break;
      continue;
    }
    if (!SendAt(send_psn_)) break;
    if (timer_ == TimerId::kNone) RestartTimer();
  }
}

bool RcRequester::SendAt(uint32_t psn) {
  const auto request =
      std::ranges::find_if(open_, [psn](const Request& candidate) {
        const int32_t index = wire::PsnDistance(psn, candidate.psn);
        return index >= 0 && index < static_cast<int32_t>(candidate.packets);
      });
  if (request == open_.end() || request->error != CqeSyndrome::kNone) {
    return false;
  }
  if (request->wqe.control.opcode == WqeOpcode::kRdmaRead) {
    send_psn_ = request->end();
    SendRead(*request, psn);
    return true;
  }
  if (IsAtomic(request->wqe.control.opcode)) {
    send_psn_ = request->end();
    SendAtomic(*request);
    return true;
  }
  send_psn_ = wire::PsnAfter(psn, 1);
  return SendData(*request,
                  static_cast<uint32_t>(wire::PsnDistance(psn, request->psn)));
}

void RcRequester::SendRead(const Request& request, uint32_t psn) {
  // After a loss only the missing rest is requested.
  const uint64_t skip =
      static_cast<uint64_t>(wire::PsnDistance(psn, request.psn)) * link_.mtu();
  std::vector<std::byte> headers;
  wire::Append(wire::RdmaHeader{.address = request.wqe.remote.address + skip,
                                .key = request.wqe.remote.rkey,
                                .length = static_cast<uint32_t>(
                                    request.wqe.length - skip)},
               headers);
  link_.Send({.operation = wire::opcode::kReadRequest,
              .psn = psn,
              .ack_request = true},
             headers, {});
}

void RcRequester::SendAtomic(const Request& request) {
  const SendWqe& wqe = request.wqe;
  std::vector<std::byte> headers;
  wire::Append(wire::AtomicHeader{.address = wqe.remote.address,
                                  .key = wqe.remote.rkey,
                                  .swap_or_add = wqe.atomic.swap_add,
                                  .compare = wqe.atomic.compare},
               headers);
  link_.Send({.operation = wqe.control.opcode == WqeOpcode::kFetchAdd
                               ? wire::opcode::kFetchAdd
                               : wire::opcode::kCompareSwap,
              .psn = request.psn,
              .ack_request = true},
             headers, {});
}

bool RcRequester::SendData(Request& request, uint32_t index) {
  const std::optional<OutgoingPart> part = CutPart(link_, request.wqe, index);
  if (!part) {
    request.error = CqeSyndrome::kLocalProtection;
    EndLocal();
    return false;
  }
  link_.Send(
      {.operation = part->operation,
       .psn = wire::PsnAfter(request.psn, index),
       .ack_request = part->last || index % kAckInterval == kAckInterval - 1,
       .solicited = part->solicited},
      part->headers, part->payload);
  return true;
}

void RcRequester::CompleteFront(uint32_t byte_count) {
  const Request request = std::move(open_.front());
  open_.pop_front();
  oldest_psn_ = request.end();
  link_.EndSend(request.wqe, byte_count);
}

void RcRequester::EndLocal() {
  while (!broken_ && !open_.empty()) {
    const Request& front = open_.front();
    if (front.error != CqeSyndrome::kNone) {
      Fail(front.error);
    } else if (front.packets == 0) {
      const CqeSyndrome error = Execute(front.wqe);
      if (error == CqeSyndrome::kNone) {
        CompleteFront(0);
      } else {
        Fail(error);
      }
    } else {
      return;
    }
  }
}

CqeSyndrome RcRequester::Execute(const SendWqe& wqe) {
  bool done = true;
  if (wqe.control.opcode == WqeOpcode::kFastRegister) {
    done = link_.qp().fast_register &&
           link_.memory().FastRegister(wqe.fast_register, link_.qp().pd);
  } else if (wqe.control.opcode == WqeOpcode::kLocalInvalidate) {
    done = link_.memory().Invalidate(wqe.invalidate.key, link_.qp().pd);
  }
  return done ? CqeSyndrome::kNone : CqeSyndrome::kWindowBind;
}

bool RcRequester::Advance(uint32_t psn) {
  const bool progress = wire::PsnDistance(psn, oldest_psn_) > 0;
  for (EndLocal(); !broken_ && !open_.empty(); EndLocal()) {
    const Request& front = open_.front();
    if (wire::PsnDistance(psn, front.psn) <= 0) break;
    if (front.awaits_response()) {
      GoBack(wire::PsnAfter(front.psn, front.answered));
      return false;
    }
    if (wire::PsnDistance(psn, front.end()) < 0) {
      oldest_psn_ = psn;
      break;
    }
    CompleteFront(static_cast<uint32_t>(front.wqe.length));
  }
  if (progress && !broken_) {
    retries_ = link_.qp().retry_count;
    rnr_retries_ = link_.qp().rnr_retry;
    RestartTimer();
  }
  return !broken_;
}

void RcRequester::Receive(const ParsedPacket& incoming) {
  const uint32_t psn = incoming.bth.psn;
  // Only responses to packets in flight count.  Others are duplicates, or
  // strays from an earlier connection.
  if (broken_ || wire::PsnDistance(psn, oldest_psn_) < 0 ||
      wire::PsnDistance(psn, send_psn_) >= 0) {
    return;
  }
  ParsedPacket packet = incoming;
  switch (packet.bth.opcode) {
    case wire::opcode::kAcknowledge:
      if (const auto aeth = packet.Take<wire::AcknowledgeHeader>()) {
        OnAcknowledge(packet, aeth->syndrome);
      }
      break;
    case wire::opcode::kAtomicAcknowledge:
      OnAtomicResponse(packet);
      break;
    default:
      OnReadResponse(packet);
      break;
  }
  Pump();
}

void RcRequester::OnAcknowledge(const ParsedPacket& packet, uint8_t syndrome) {
  const uint32_t psn = packet.bth.psn;
  const uint8_t value = syndrome & wire::syndrome::kValueMask;
  switch (syndrome & wire::syndrome::kKindMask) {
    case 0:
      Advance(wire::PsnAfter(psn, 1));
      break;
    case wire::syndrome::kRnrNak:
      if (Advance(psn)) OnRnrNak(psn, value);
      break;
    case wire::syndrome::kNak:
      if (Advance(psn)) OnNak(psn, value);
      break;
    default:
      break;
  }
}

void RcRequester::OnNak(uint32_t psn, uint8_t code) {
  switch (code) {
    case wire::syndrome::kSequenceError:
      GoBack(psn);
      break;
    case wire::syndrome::kInvalidRequest:
      Fail(CqeSyndrome::kRemoteInvalidRequest);
      break;
    case wire::syndrome::kRemoteAccessError:
      Fail(CqeSyndrome::kRemoteAccess);
      break;
    default:
      Fail(CqeSyndrome::kRemoteOperation);
      break;
  }
}

void RcRequester::OnRnrNak(uint32_t psn, uint8_t timer) {
  if (rnr_retries_ == 0) {
    Fail(CqeSyndrome::kRnrRetryExceeded);
    return;
  }
  if (link_.qp().rnr_retry != kRetryForEver) --rnr_retries_;
  timers_.Cancel(timer_);
  waiting_ = true;
  send_psn_ = psn;
  timer_ = timers_.RunAfter(absl::Microseconds(wire::RnrMicroseconds(timer)),
                            [this] {
                              timer_ = TimerId::kNone;
                              waiting_ = false;
                              Pump();
                            });
}

void RcRequester::OnReadResponse(ParsedPacket packet) {
  const uint8_t opcode = packet.bth.opcode;
  if (opcode != wire::opcode::kReadResponseMiddle &&
      !packet.Take<wire::AcknowledgeHeader>()) {
    return;
  }
  const uint32_t psn = packet.bth.psn;
  // A response acknowledges all packets before its request.
  const auto found = std::ranges::find_if(open_, [psn](const Request& request) {
    const int32_t index = wire::PsnDistance(psn, request.psn);
    return index >= 0 && index < static_cast<int32_t>(request.packets);
  });
  if (found == open_.end() ||
      found->wqe.control.opcode != WqeOpcode::kRdmaRead ||
      !Advance(found->psn)) {
    return;
  }
  Request& request = open_.front();
  const auto index = static_cast<uint32_t>(wire::PsnDistance(psn, request.psn));
  if (index < request.answered) return;  // a duplicate
  if (index > request.answered) {
    GoBack(wire::PsnAfter(request.psn, request.answered));
    return;
  }
  const uint64_t offset = index * link_.mtu();
  const uint64_t wanted = std::min(link_.mtu(), request.wqe.length - offset);
  if (packet.rest.size() != wanted) {
    Fail(CqeSyndrome::kBadResponse);
    return;
  }
  if (Scatter(link_.memory(), link_.qp().pd, request.wqe.sges, offset,
              packet.rest) != Scattered::kOk) {
    Fail(CqeSyndrome::kLocalProtection);
    return;
  }
  retries_ = link_.qp().retry_count;
  ++request.answered;
  oldest_psn_ = wire::PsnAfter(psn, 1);
  if (request.answered == request.packets) {
    CompleteFront(static_cast<uint32_t>(request.wqe.length));
  }
  if (!broken_) {
    RestartTimer();
    EndLocal();
  }
}

void RcRequester::OnAtomicResponse(ParsedPacket packet) {
  const auto aeth = packet.Take<wire::AcknowledgeHeader>();
  const auto answer = packet.Take<wire::AtomicAcknowledgeHeader>();
  if (!aeth || !answer || !Advance(packet.bth.psn) || open_.empty()) return;
  const Request& request = open_.front();
  if (request.psn != packet.bth.psn || !IsAtomic(request.wqe.control.opcode)) {
    return;
  }
  // The value has the host's byte order, which is little-endian for this
  // adapter.
  std::array<std::byte, kAtomicBytes> bytes;
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(answer->original >> (8 * i));
  }
  if (Scatter(link_.memory(), link_.qp().pd, request.wqe.sges, 0, bytes) !=
      Scattered::kOk) {
    Fail(CqeSyndrome::kLocalProtection);
    return;
  }
  retries_ = link_.qp().retry_count;
  CompleteFront(kAtomicBytes);
  if (!broken_) {
    RestartTimer();
    EndLocal();
  }
}

void RcRequester::GoBack(uint32_t psn) {
  if (waiting_) return;  // it goes back later anyway
  if (retries_ == 0) {
    Fail(CqeSyndrome::kTransportRetryExceeded);
    return;
  }
  --retries_;
  send_psn_ = psn;
  RestartTimer();
}

void RcRequester::OnTimeout() {
  timer_ = TimerId::kNone;
  if (open_.empty() || broken_) return;
  GoBack(oldest_psn_);
  Pump();
}

void RcRequester::RestartTimer() {
  if (waiting_) return;
  timers_.Cancel(std::exchange(timer_, TimerId::kNone));
  const int code = link_.qp().primary.ack_timeout;
  if (broken_ || code == 0 || open_.empty()) return;
  // The timeout is at least 4.096 us * 2^code and at most four times that (IBA
  // vol 1 §9.7.6.1.3).
  const absl::Duration wait =
      absl::Nanoseconds(4096) * static_cast<double>(uint64_t{1} << code);
  timer_ = timers_.RunAfter(4 * wait, [this] { OnTimeout(); });
}

void RcRequester::Fail(CqeSyndrome syndrome) {
  if (open_.empty()) return;
  const Request request = std::move(open_.front());
  open_.pop_front();
  link_.AbortSend(request.wqe, syndrome);
  link_.Break();
}

void RcRequester::Flush() {
  broken_ = true;
  timers_.Cancel(std::exchange(timer_, TimerId::kNone));
  for (const Request& request : std::exchange(open_, {})) {
    link_.AbortSend(request.wqe, CqeSyndrome::kFlushed);
  }
}

}  // namespace ibemu::hca::model::mlx4
