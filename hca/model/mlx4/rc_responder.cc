#include "hca/model/mlx4/rc_responder.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ibemu::hca::model::mlx4 {

using prm::CqeSyndrome;
using prm::EventType;

namespace {

constexpr size_t kAtomicResults = 16;
constexpr size_t kAtomicOperandBytes = 8;
constexpr size_t kImmediateDataBytes = 4;

bool IsSendOpcode(uint8_t opcode) { return opcode <= rc::kSendOnlyImmediate; }
bool IsWriteOpcode(uint8_t opcode) {
  return opcode >= rc::kWriteFirst && opcode <= rc::kWriteOnlyImmediate;
}
bool IsFirst(uint8_t opcode) {
  return opcode == rc::kSendFirst || opcode == rc::kSendOnly ||
         opcode == rc::kSendOnlyImmediate || opcode == rc::kWriteFirst ||
         opcode == rc::kWriteOnly || opcode == rc::kWriteOnlyImmediate;
}
bool IsLast(uint8_t opcode) {
  return opcode != rc::kSendFirst && opcode != rc::kSendMiddle &&
         opcode != rc::kWriteFirst && opcode != rc::kWriteMiddle;
}
bool CarriesImmediate(uint8_t opcode) {
  return opcode == rc::kSendLastImmediate || opcode == rc::kSendOnlyImmediate ||
         opcode == rc::kWriteLastImmediate || opcode == rc::kWriteOnlyImmediate;
}

// Takes the immediate data off the front; none if it is too short.
std::optional<uint32_t> TakeImmediate(Packet& packet) {
  if (packet.rest.size() < kImmediateDataBytes) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < kImmediateDataBytes; ++i) {
    value = value << 8 | static_cast<uint8_t>(packet.rest[i]);
  }
  packet.rest = packet.rest.subspan(kImmediateDataBytes);
  return value;
}

}  // namespace

void RcResponder::Receive(const Packet& request) {
  const int32_t distance = rc::PsnDistance(request.bth.psn, expected_);
  if (distance > 0) {
    if (!sequence_told_) {
      Acknowledge(expected_, rc::kNak | rc::kNakSequence);
    }
    sequence_told_ = true;
    return;
  }
  if (distance < 0) {
    OnDuplicate(request);
    return;
  }
  sequence_told_ = false;
  const uint8_t opcode = request.bth.opcode;
  if (IsSendOpcode(opcode)) {
    OnSend(request);
  } else if (IsWriteOpcode(opcode)) {
    OnWrite(request);
  } else if (opcode == rc::kReadRequest && message_ == Message::kNone) {
    OnRead(request, false);
  } else if ((opcode == rc::kCompareSwap || opcode == rc::kFetchAdd) &&
             message_ == Message::kNone) {
    OnAtomic(request);
  } else {
    Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
  }
}

void RcResponder::OnDuplicate(const Packet& request) {
  switch (request.bth.opcode) {
    case rc::kReadRequest:
      OnRead(request, true);
      break;
    case rc::kCompareSwap:
    case rc::kFetchAdd:
      for (const Result& result : atomics_) {
        if (result.psn != request.bth.psn) continue;
        std::vector<std::byte> headers;
        wire::Append(mad::AcknowledgeHeader{.syndrome = rc::kAck,
                                            .message_number = message_number_},
                     headers);
        wire::Append(mad::AtomicAcknowledgeHeader{.original = result.original},
                     headers);
        link_.Send({.opcode = rc::kAtomicAcknowledge, .psn = result.psn},
                   headers, {});
      }
      break;
    default:
      // All that came in order is acknowledged once more.
      Acknowledge(rc::PsnAdd(expected_, rc::kPsnMask), rc::kAck);
      break;
  }
}

bool RcResponder::InOrder(Message kind, bool first, bool last,
                          size_t bytes) const {
  const Message wanted = first ? Message::kNone : kind;
  if (message_ != wanted || bytes > link_.mtu()) return false;
  if (!last && bytes != link_.mtu()) return false;
  return first || !last || bytes > 0;
}

bool RcResponder::TakeReceive() {
  switch (link_.FetchReceive(receive_)) {
    case ReceiveSource::Fetched::kWqe:
      return true;
    case ReceiveSource::Fetched::kNone:
      Acknowledge(expected_, rc::kRnrNak | link_.qp().min_rnr_nak);
      sequence_told_ = true;  // what follows is out of sequence for that reason
      return false;
    case ReceiveSource::Fetched::kFault:
      Refuse(rc::kNakRemoteOperation, EventType::kWqCatastrophicError);
      return false;
  }
  return false;
}

void RcResponder::OnSend(const Packet& request) {
  Packet packet = request;
  const uint8_t opcode = packet.bth.opcode;
  const bool last = IsLast(opcode);
  std::optional<uint32_t> immediate;
  if (CarriesImmediate(opcode)) {
    immediate = TakeImmediate(packet);
    if (!immediate) {
      Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
      return;
    }
  }
  if (!InOrder(Message::kSend, IsFirst(opcode), last, packet.rest.size())) {
    Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
    return;
  }
  if (IsFirst(opcode)) {
    if (!TakeReceive()) return;
    received_ = 0;
  }
  message_ = Message::kSend;
  const Scattered scattered = Scatter(link_.memory(), link_.qp().pd,
                                      receive_.pieces, received_, packet.rest);
  if (scattered == Scattered::kTooLong) {
    link_.AbortReceive(receive_.counter, CqeSyndrome::kLocalLength);
    Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
    return;
  }
  if (scattered == Scattered::kProtection) {
    link_.AbortReceive(receive_.counter, CqeSyndrome::kLocalProtection);
    Acknowledge(expected_, rc::kNak | rc::kNakRemoteOperation);
    link_.Break();
    return;
  }
  received_ += packet.rest.size();
  Accept(request, last);
  if (!last) return;
  message_ = Message::kNone;
  link_.EndReceive(
      {.immediate = immediate.value_or(0),
       .remote_qpn = link_.qp().remote_qpn,
       .sl = request.lrh.sl,
       .remote_lid = static_cast<uint16_t>(request.lrh.slid),
       .byte_count = static_cast<uint32_t>(received_),
       .wqe_counter = receive_.counter,
       .opcode = immediate ? prm::kReceivedSendImmediate : prm::kReceivedSend},
      request.bth.solicited);
}

void RcResponder::OnWrite(const Packet& request) {
  Packet packet = request;
  const uint8_t opcode = packet.bth.opcode;
  const bool first = IsFirst(opcode);
  const bool last = IsLast(opcode);
  mad::RdmaHeader header = write_;
  if (first) {
    const auto taken = packet.Take<mad::RdmaHeader>();
    if (!taken) {
      Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
      return;
    }
    header = *taken;
  }
  std::optional<uint32_t> immediate;
  if (CarriesImmediate(opcode)) immediate = TakeImmediate(packet);
  const uint64_t offset = first ? 0 : received_;
  const uint64_t end = offset + packet.rest.size();
  if (CarriesImmediate(opcode) != immediate.has_value() ||
      !InOrder(Message::kWrite, first, last, packet.rest.size()) ||
      end > header.length || (last && end != header.length)) {
    Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
    return;
  }
  if (immediate && !TakeReceive()) return;
  if (header.length > 0) {
    const auto entry =
        link_.qp().remote_write
            ? link_.memory().Check(header.key, link_.qp().pd, header.address,
                                   header.length, Right::kRemoteWrite)
            : std::nullopt;
    if (!entry ||
        !link_.memory().Write(*entry, header.address + offset, packet.rest)) {
      Refuse(rc::kNakRemoteAccess, EventType::kWqAccessError);
      return;
    }
  }
  write_ = header;
  received_ = end;
  message_ = last ? Message::kNone : Message::kWrite;
  Accept(request, last);
  if (!immediate) return;
  link_.EndReceive({.immediate = *immediate,
                    .remote_qpn = link_.qp().remote_qpn,
                    .sl = request.lrh.sl,
                    .remote_lid = static_cast<uint16_t>(request.lrh.slid),
                    .byte_count = static_cast<uint32_t>(received_),
                    .wqe_counter = receive_.counter,
                    .opcode = prm::kReceivedRdmaWriteImmediate},
                   request.bth.solicited);
}

void RcResponder::OnRead(Packet request, bool duplicate) {
  const auto header = request.Take<mad::RdmaHeader>();
  if (!header) {
    Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
    return;
  }
  std::optional<prm::Mpt> entry;
  if (header->length > 0) {
    if (link_.qp().remote_read) {
      entry = link_.memory().Check(header->key, link_.qp().pd, header->address,
                                   header->length, Right::kRemoteRead);
    }
    if (!entry) {
      Refuse(rc::kNakRemoteAccess, EventType::kWqAccessError);
      return;
    }
  }
  const uint32_t packets = rc::PacketsOf(header->length, link_.mtu());
  const uint32_t psn = request.bth.psn;
  if (!duplicate) {
    expected_ = rc::PsnAdd(psn, packets);
    message_number_ = rc::PsnAdd(message_number_, 1);
  }
  for (uint32_t i = 0; i < packets; ++i) {
    const uint64_t offset = i * link_.mtu();
    std::vector<std::byte> payload(
        std::min<uint64_t>(link_.mtu(), header->length - offset));
    if (entry &&
        !link_.memory().Read(*entry, header->address + offset, payload)) {
      Refuse(rc::kNakRemoteOperation, EventType::kWqAccessError);
      return;
    }
    const bool first = i == 0;
    const bool last = i + 1 == packets;
    uint8_t opcode = rc::kReadResponseMiddle;
    if (first) opcode = rc::kReadResponseFirst;
    if (last) opcode = first ? rc::kReadResponseOnly : rc::kReadResponseLast;
    std::vector<std::byte> headers;
    if (first || last) {
      wire::Append(mad::AcknowledgeHeader{.syndrome = rc::kAck,
                                          .message_number = message_number_},
                   headers);
    }
    link_.Send({.opcode = opcode, .psn = rc::PsnAdd(psn, i)}, headers, payload);
  }
}

void RcResponder::OnAtomic(Packet request) {
  const auto header = request.Take<mad::AtomicHeader>();
  if (!header || header->address % kAtomicOperandBytes != 0) {
    Refuse(rc::kNakInvalidRequest, EventType::kWqInvalidRequest);
    return;
  }
  const auto entry =
      link_.qp().remote_atomic
          ? link_.memory().Check(header->key, link_.qp().pd, header->address,
                                 kAtomicOperandBytes, Right::kAtomic)
          : std::nullopt;
  std::array<std::byte, kAtomicOperandBytes> bytes;
  if (!entry || !link_.memory().Read(*entry, header->address, bytes)) {
    Refuse(rc::kNakRemoteAccess, EventType::kWqAccessError);
    return;
  }
  // In the host's byte order, which is little-endian for this adapter.
  uint64_t original = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    original |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  uint64_t result = original;
  if (request.bth.opcode == rc::kFetchAdd) {
    result += header->swap_or_add;
  } else if (original == header->compare) {
    result = header->swap_or_add;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(result >> (8 * i));
  }
  if (!link_.memory().Write(*entry, header->address, bytes)) {
    Refuse(rc::kNakRemoteAccess, EventType::kWqAccessError);
    return;
  }
  atomics_.push_back({.psn = request.bth.psn, .original = original});
  if (atomics_.size() > kAtomicResults) atomics_.pop_front();
  expected_ = rc::PsnAdd(expected_, 1);
  message_number_ = rc::PsnAdd(message_number_, 1);
  std::vector<std::byte> headers;
  wire::Append(mad::AcknowledgeHeader{.syndrome = rc::kAck,
                                      .message_number = message_number_},
               headers);
  wire::Append(mad::AtomicAcknowledgeHeader{.original = original}, headers);
  link_.Send({.opcode = rc::kAtomicAcknowledge, .psn = request.bth.psn},
             headers, {});
}

void RcResponder::Accept(const Packet& request, bool end_of_message) {
  const uint32_t psn = expected_;
  expected_ = rc::PsnAdd(expected_, 1);
  if (end_of_message) message_number_ = rc::PsnAdd(message_number_, 1);
  if (request.bth.ack_request) Acknowledge(psn, rc::kAck);
}

void RcResponder::Acknowledge(uint32_t psn, uint8_t syndrome) {
  std::vector<std::byte> headers;
  wire::Append(mad::AcknowledgeHeader{.syndrome = syndrome,
                                      .message_number = message_number_},
               headers);
  link_.Send({.opcode = rc::kAcknowledge, .psn = psn}, headers, {});
}

void RcResponder::Refuse(uint8_t code, EventType event) {
  Acknowledge(expected_, rc::kNak | code);
  link_.Break(event);
}

}  // namespace ibemu::hca::model::mlx4
