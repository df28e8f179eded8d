#include "hca/model/mlx4/transport/received_message.h"

#include <utility>

#include "wire/opcode.h"

namespace ibemu::hca::model::mlx4 {
namespace {

constexpr size_t kImmediateDataBytes = 4;

bool IsFirst(uint8_t operation) {
  using namespace wire::opcode;  // NOLINT: one table of them
  return operation == kSendFirst || operation == kSendOnly ||
         operation == kSendOnlyImmediate || operation == kSendOnlyInvalidate ||
         operation == kWriteFirst || operation == kWriteOnly ||
         operation == kWriteOnlyImmediate;
}
bool IsLast(uint8_t operation) {
  using namespace wire::opcode;  // NOLINT: one table of them
  return operation != kSendFirst && operation != kSendMiddle &&
         operation != kWriteFirst && operation != kWriteMiddle;
}
bool CarriesImmediate(uint8_t operation) {
  using namespace wire::opcode;  // NOLINT: one table of them
  return operation == kSendLastImmediate || operation == kSendOnlyImmediate ||
         operation == kWriteLastImmediate || operation == kWriteOnlyImmediate;
}

// Removes the immediate data from the front.  Returns nothing if there are too
// few bytes.
std::optional<uint32_t> TakeImmediate(ParsedPacket& packet) {
  if (packet.rest.size() < kImmediateDataBytes) return std::nullopt;
  uint32_t value = 0;
  for (size_t i = 0; i < kImmediateDataBytes; ++i) {
    value = value << 8 | static_cast<uint8_t>(packet.rest[i]);
  }
  packet.rest = packet.rest.subspan(kImmediateDataBytes);
  return value;
}

}  // namespace

bool IsSendInvalidate(uint8_t opcode) {
  return opcode == wire::opcode::kSendLastInvalidate ||
         opcode == wire::opcode::kSendOnlyInvalidate;
}

std::optional<IncomingPart> ParsePart(const ParsedPacket& packet) {
  const uint8_t operation = packet.bth.opcode & wire::opcode::kOperationMask;
  const bool invalidates = IsSendInvalidate(packet.bth.opcode);
  if (operation > wire::opcode::kWriteOnlyImmediate && !invalidates) {
    return std::nullopt;
  }
  ParsedPacket rest = packet;
  IncomingPart part;
  part.packet = &packet;
  part.write = operation >= wire::opcode::kWriteFirst && !invalidates;
  part.first = IsFirst(operation);
  part.last = IsLast(operation);
  if (part.write && part.first) {
    const auto target = rest.Take<wire::RdmaHeader>();
    if (!target) return std::nullopt;
    part.target = *target;
  }
  if (CarriesImmediate(operation)) {
    part.immediate = TakeImmediate(rest);
    if (!part.immediate) return std::nullopt;
  }
  if (invalidates) {
    const auto header = rest.Take<wire::InvalidateHeader>();
    if (!header) return std::nullopt;
    part.invalidate = header->key;
  }
  part.payload = rest.rest;
  return part;
}

bool ReceivedMessage::Continues(const IncomingPart& part) const {
  const Kind same = part.write ? Kind::kWrite : Kind::kSend;
  const size_t bytes = part.payload.size();
  if (kind_ != (part.first ? Kind::kNone : same) || bytes > link_.mtu()) {
    return false;
  }
  if (part.last ? !part.first && bytes == 0 : bytes != link_.mtu()) {
    return false;
  }
  if (!part.write) return true;
  const uint64_t length = part.first ? part.target.length : target_.length;
  const uint64_t end = (part.first ? 0 : received_) + bytes;
  return part.last ? end == length : end <= length;
}

ReceiveSource::Fetched ReceivedMessage::TakeReceive() {
  if (receive_) return ReceiveSource::Fetched::kWqe;
  ReceiveWqe wqe;
  const ReceiveSource::Fetched fetched = link_.FetchReceive(wqe);
  if (fetched == ReceiveSource::Fetched::kWqe) receive_ = std::move(wqe);
  return fetched;
}

bool ReceivedMessage::Write(const wire::RdmaHeader& target, uint64_t offset,
                            std::span<const std::byte> bytes) {
  if (target.length == 0) return true;
  if (!link_.qp().remote_write) return false;
  const auto entry =
      link_.memory().Check(target.key, link_.qp().pd, target.address,
                           target.length, Right::kRemoteWrite);
  return entry && link_.memory().Write(*entry, target.address + offset, bytes);
}

ReceivedMessage::Placed ReceivedMessage::Place(const IncomingPart& part) {
  if (part.first) {
    target_ = part.target;
    received_ = 0;
  }
  if (part.write) {
    if (!Write(target_, received_, part.payload)) return Placed::kAccess;
  } else {
    switch (Scatter(link_.memory(), link_.qp().pd, receive_->sges, received_,
                    part.payload)) {
      case Scattered::kOk:
        break;
      case Scattered::kTooLong:
        return Placed::kTooLong;
      case Scattered::kProtection:
        return Placed::kProtection;
    }
  }
  if (part.invalidate &&
      !link_.memory().Invalidate(*part.invalidate, link_.qp().pd)) {
    return Placed::kInvalidate;
  }
  received_ += part.payload.size();
  kind_ = part.write ? Kind::kWrite : Kind::kSend;
  if (part.last) kind_ = Kind::kNone;
  return Placed::kOk;
}

void ReceivedMessage::End(const IncomingPart& part) {
  if (part.write && !part.immediate) return;
  uint8_t opcode = prm::kReceivedRdmaWriteImmediate;
  if (!part.write) {
    opcode = part.immediate ? prm::kReceivedSendImmediate : prm::kReceivedSend;
    if (part.invalidate) opcode = prm::kReceivedSendInvalidate;
  }
  const uint16_t counter = receive_->counter;
  receive_.reset();
  link_.EndReceive(
      {.immediate = part.invalidate.value_or(part.immediate.value_or(0)),
       .remote_qpn = link_.qp().remote_qpn,
       .sl = part.packet->lrh.sl,
       .remote_lid = static_cast<uint16_t>(part.packet->lrh.slid),
       .byte_count = static_cast<uint32_t>(received_),
       .wqe_counter = counter,
       .opcode = opcode},
      part.packet->bth.solicited);
}

void ReceivedMessage::FailReceive(prm::CqeSyndrome syndrome) {
  if (!receive_) return;
  const uint16_t counter = receive_->counter;
  receive_.reset();
  link_.AbortReceive(counter, syndrome);
}

}  // namespace ibemu::hca::model::mlx4
