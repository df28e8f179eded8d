#include "hca/model/mlx4/transport/rc_responder.h"

#include <algorithm>
#include <array>
#include <vector>

#include "wire/opcode.h"
#include "wire/psn.h"

namespace ibemu::hca::model::mlx4 {

using prm::CqeSyndrome;
using prm::EqeType;

namespace {

constexpr size_t kAtomicResults = 16;
constexpr size_t kAtomicOperandBytes = 8;

}  // namespace

void RcResponder::Receive(const ParsedPacket& request) {
  const int32_t distance = wire::PsnDistance(request.bth.psn, expected_);
  if (distance > 0) {
    if (!sequence_told_) {
      Acknowledge(expected_,
                  wire::syndrome::kNak | wire::syndrome::kSequenceError);
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
  if (opcode <= wire::opcode::kWriteOnlyImmediate || IsSendInvalidate(opcode)) {
    OnMessage(request);
  } else if (opcode == wire::opcode::kReadRequest && !message_.begun()) {
    OnRead(request, false);
  } else if ((opcode == wire::opcode::kCompareSwap ||
              opcode == wire::opcode::kFetchAdd) &&
             !message_.begun()) {
    OnAtomic(request);
  } else {
    Refuse(wire::syndrome::kInvalidRequest, EqeType::kWqInvalidRequest);
  }
}

void RcResponder::OnDuplicate(const ParsedPacket& request) {
  switch (request.bth.opcode) {
    case wire::opcode::kReadRequest:
      OnRead(request, true);
      break;
    case wire::opcode::kCompareSwap:
    case wire::opcode::kFetchAdd:
      for (const Result& result : atomics_) {
        if (result.psn != request.bth.psn) continue;
        std::vector<std::byte> headers;
        wire::Append(
            wire::AcknowledgeHeader{.syndrome = wire::syndrome::kNoCredits,
                                    .message_number = message_number_},
            headers);
        wire::Append(wire::AtomicAcknowledgeHeader{.original = result.original},
                     headers);
        link_.Send(
            {.operation = wire::opcode::kAtomicAcknowledge, .psn = result.psn},
            headers, {});
      }
      break;
    default:
      // Acknowledges once more all packets that arrived in order.
      Acknowledge(wire::PsnAfter(expected_, wire::kPsnMask),
                  wire::syndrome::kNoCredits);
      break;
  }
}

bool RcResponder::TakeReceive() {
  switch (message_.TakeReceive()) {
    case ReceiveSource::Fetched::kWqe:
      return true;
    case ReceiveSource::Fetched::kNone:
      Acknowledge(expected_, wire::syndrome::kRnrNak | link_.qp().min_rnr_nak);
      sequence_told_ = true;  // packets that follow are out of sequence
      return false;
    case ReceiveSource::Fetched::kFault:
      Refuse(wire::syndrome::kRemoteOperationError,
             EqeType::kWqCatastrophicError);
      return false;
  }
  return false;
}

void RcResponder::OnMessage(const ParsedPacket& request) {
  const std::optional<IncomingPart> part = ParsePart(request);
  if (!part || !message_.Continues(*part)) {
    Refuse(wire::syndrome::kInvalidRequest, EqeType::kWqInvalidRequest);
    return;
  }
  if (part->takes_receive() && !TakeReceive()) return;
  switch (message_.Place(*part)) {
    case ReceivedMessage::Placed::kOk:
      break;
    case ReceivedMessage::Placed::kTooLong:
      message_.FailReceive(CqeSyndrome::kLocalLength);
      Acknowledge(expected_,
                  wire::syndrome::kNak | wire::syndrome::kInvalidRequest);
      link_.Break();
      return;
    case ReceivedMessage::Placed::kProtection:
      message_.FailReceive(CqeSyndrome::kLocalProtection);
      Acknowledge(expected_,
                  wire::syndrome::kNak | wire::syndrome::kRemoteOperationError);
      link_.Break();
      return;
    case ReceivedMessage::Placed::kInvalidate:
      // It is the responder's error, of which the peer is told by no answer
      // (IBA vol 1 §9.9.3, class J).
      message_.FailReceive(CqeSyndrome::kRemoteInvalidRequest);
      link_.Break();
      return;
    case ReceivedMessage::Placed::kAccess:
      Refuse(wire::syndrome::kRemoteAccessError, EqeType::kWqAccessError);
      return;
  }
  Accept(request, part->last);
  if (part->last) message_.End(*part);
}

void RcResponder::OnRead(ParsedPacket request, bool duplicate) {
  // An invalid duplicate, for example an old one whose region is gone, is
  // harmless and dropped (IBA vol 1 §9.7.5.1).
  const auto refuse = [this, duplicate](uint8_t code, EqeType event) {
    if (!duplicate) Refuse(code, event);
  };
  const auto header = request.Take<wire::RdmaHeader>();
  if (!header) {
    refuse(wire::syndrome::kInvalidRequest, EqeType::kWqInvalidRequest);
    return;
  }
  std::optional<prm::Mpt> entry;
  if (header->length > 0) {
    if (link_.qp().remote_read) {
      entry = link_.memory().Check(header->key, link_.qp().pd, header->address,
                                   header->length, Right::kRemoteRead);
    }
    if (!entry) {
      refuse(wire::syndrome::kRemoteAccessError, EqeType::kWqAccessError);
      return;
    }
  }
  const uint32_t packets = wire::PacketsFor(header->length, link_.mtu());
  const uint32_t psn = request.bth.psn;
  if (!duplicate) {
    expected_ = wire::PsnAfter(psn, packets);
    message_number_ = wire::PsnAfter(message_number_, 1);
  }
  for (uint32_t i = 0; i < packets; ++i) {
    const uint64_t offset = i * link_.mtu();
    std::vector<std::byte> payload(
        std::min<uint64_t>(link_.mtu(), header->length - offset));
    if (entry &&
        !link_.memory().Read(*entry, header->address + offset, payload)) {
      refuse(wire::syndrome::kRemoteOperationError, EqeType::kWqAccessError);
      return;
    }
    const bool first = i == 0;
    const bool last = i + 1 == packets;
    uint8_t opcode = wire::opcode::kReadResponseMiddle;
    if (first) opcode = wire::opcode::kReadResponseFirst;
    if (last)
      opcode = first ? wire::opcode::kReadResponseOnly
                     : wire::opcode::kReadResponseLast;
    std::vector<std::byte> headers;
    if (first || last) {
      wire::Append(
          wire::AcknowledgeHeader{.syndrome = wire::syndrome::kNoCredits,
                                  .message_number = message_number_},
          headers);
    }
    link_.Send({.operation = opcode, .psn = wire::PsnAfter(psn, i)}, headers,
               payload);
  }
}

void RcResponder::OnAtomic(ParsedPacket request) {
  const auto header = request.Take<wire::AtomicHeader>();
  if (!header) {
    Refuse(wire::syndrome::kInvalidRequest, EqeType::kWqInvalidRequest);
    return;
  }
  if (header->address % kAtomicOperandBytes != 0) {
    Refuse(wire::syndrome::kInvalidRequest, EqeType::kWqAccessError);
    return;
  }
  const auto entry =
      link_.qp().remote_atomic
          ? link_.memory().Check(header->key, link_.qp().pd, header->address,
                                 kAtomicOperandBytes, Right::kAtomic)
          : std::nullopt;
  std::array<std::byte, kAtomicOperandBytes> bytes;
  if (!entry || !link_.memory().Read(*entry, header->address, bytes)) {
    Refuse(wire::syndrome::kRemoteAccessError, EqeType::kWqAccessError);
    return;
  }
  // The value has the host's byte order, which is little-endian for this
  // adapter.
  uint64_t original = 0;
  for (size_t i = 0; i < bytes.size(); ++i) {
    original |= uint64_t{static_cast<uint8_t>(bytes[i])} << (8 * i);
  }
  uint64_t result = original;
  if (request.bth.opcode == wire::opcode::kFetchAdd) {
    result += header->swap_or_add;
  } else if (original == header->compare) {
    result = header->swap_or_add;
  }
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<std::byte>(result >> (8 * i));
  }
  if (!link_.memory().Write(*entry, header->address, bytes)) {
    Refuse(wire::syndrome::kRemoteAccessError, EqeType::kWqAccessError);
    return;
  }
  atomics_.push_back({.psn = request.bth.psn, .original = original});
  if (atomics_.size() > kAtomicResults) atomics_.pop_front();
  expected_ = wire::PsnAfter(expected_, 1);
  message_number_ = wire::PsnAfter(message_number_, 1);
  std::vector<std::byte> headers;
  wire::Append(wire::AcknowledgeHeader{.syndrome = wire::syndrome::kNoCredits,
                                       .message_number = message_number_},
               headers);
  wire::Append(wire::AtomicAcknowledgeHeader{.original = original}, headers);
  link_.Send(
      {.operation = wire::opcode::kAtomicAcknowledge, .psn = request.bth.psn},
      headers, {});
}

void RcResponder::Accept(const ParsedPacket& request, bool end_of_message) {
  const uint32_t psn = expected_;
  expected_ = wire::PsnAfter(expected_, 1);
  if (end_of_message) message_number_ = wire::PsnAfter(message_number_, 1);
  if (request.bth.ack_request) Acknowledge(psn, wire::syndrome::kNoCredits);
}

void RcResponder::Acknowledge(uint32_t psn, uint8_t syndrome) {
  std::vector<std::byte> headers;
  wire::Append(wire::AcknowledgeHeader{.syndrome = syndrome,
                                       .message_number = message_number_},
               headers);
  link_.Send({.operation = wire::opcode::kAcknowledge, .psn = psn}, headers,
             {});
}

void RcResponder::Refuse(uint8_t code, EqeType event) {
  Acknowledge(expected_, wire::syndrome::kNak | code);
  link_.Break(event);
}

}  // namespace ibemu::hca::model::mlx4
