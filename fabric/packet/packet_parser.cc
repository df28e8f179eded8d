#include "fabric/packet/packet_parser.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "fabric/packet/transport.h"
#include "wire/opcode.h"
#include "wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

namespace opcode = wire::opcode;
namespace syndrome = wire::syndrome;

using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;

constexpr size_t kParsedIcrc = 4;
constexpr uint8_t kSubnetManagementLane = 15;

// A reader that takes headers off the front of a packet.
class PacketReader {
 public:
  explicit PacketReader(std::span<const std::byte> bytes) : left_(bytes) {}

  template <wire::Structure T>
  absl::Status Take(T& header, const char* name) {
    constexpr size_t kSize = wire::kBytes<T>;
    if (left_.size() < kSize) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "%s needs %d bytes, the packet has %d", name, kSize, left_.size()));
    }
    header = wire::Decode<T>(left_.first(kSize));
    left_ = left_.subspan(kSize);
    return absl::OkStatus();
  }
  absl::Status TakeRaw(std::span<std::byte> into, const char* name) {
    if (left_.size() < into.size()) {
      return absl::InvalidArgumentError(
          absl::StrFormat("%s needs %d bytes, the packet has %d", name,
                          into.size(), left_.size()));
    }
    std::copy_n(left_.begin(), into.size(), into.begin());
    left_ = left_.subspan(into.size());
    return absl::OkStatus();
  }
  // Drops padding or CRC from the end.
  absl::Status Drop(size_t count, const char* name) {
    if (left_.size() < count) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "no room for %s: %d of %d bytes", name, left_.size(), count));
    }
    left_ = left_.first(left_.size() - count);
    return absl::OkStatus();
  }
  std::span<const std::byte> left() const { return left_; }

 private:
  std::span<const std::byte> left_;
};

struct OpcodeMeaning {
  Operation operation;
  bool first, last, immediate;
  bool invalidate = false;
};

std::optional<OpcodeMeaning> MeaningOf(uint8_t operation) {
  using enum Transport::Operation;
  constexpr bool kYes = true, kNo = false;
  switch (operation) {
    case opcode::kSendFirst:
      return {{kSend, kYes, kNo, kNo}};
    case opcode::kSendMiddle:
      return {{kSend, kNo, kNo, kNo}};
    case opcode::kSendLast:
      return {{kSend, kNo, kYes, kNo}};
    case opcode::kSendLastImmediate:
      return {{kSend, kNo, kYes, kYes}};
    case opcode::kSendOnly:
      return {{kSend, kYes, kYes, kNo}};
    case opcode::kSendOnlyImmediate:
      return {{kSend, kYes, kYes, kYes}};
    case opcode::kWriteFirst:
      return {{kWrite, kYes, kNo, kNo}};
    case opcode::kWriteMiddle:
      return {{kWrite, kNo, kNo, kNo}};
    case opcode::kWriteLast:
      return {{kWrite, kNo, kYes, kNo}};
    case opcode::kWriteLastImmediate:
      return {{kWrite, kNo, kYes, kYes}};
    case opcode::kWriteOnly:
      return {{kWrite, kYes, kYes, kNo}};
    case opcode::kWriteOnlyImmediate:
      return {{kWrite, kYes, kYes, kYes}};
    case opcode::kReadRequest:
      return {{kReadRequest, kYes, kYes, kNo}};
    case opcode::kReadResponseFirst:
      return {{kReadResponse, kYes, kNo, kNo}};
    case opcode::kReadResponseMiddle:
      return {{kReadResponse, kNo, kNo, kNo}};
    case opcode::kReadResponseLast:
      return {{kReadResponse, kNo, kYes, kNo}};
    case opcode::kReadResponseOnly:
      return {{kReadResponse, kYes, kYes, kNo}};
    case opcode::kAcknowledge:
      return {{kAcknowledge, kYes, kYes, kNo}};
    case opcode::kAtomicAcknowledge:
      return {{kAtomicResponse, kYes, kYes, kNo}};
    case opcode::kCompareSwap:
      return {{kCompareSwap, kYes, kYes, kNo}};
    case opcode::kFetchAdd:
      return {{kFetchAdd, kYes, kYes, kNo}};
    case opcode::kSendLastInvalidate:
      return {{kSend, kNo, kYes, kNo, kYes}};
    case opcode::kSendOnlyInvalidate:
      return {{kSend, kYes, kYes, kNo, kYes}};
    default:
      return std::nullopt;
  }
}

std::optional<verbs::QpType> ServiceOf(uint8_t code) {
  switch (code >> opcode::kServiceShift) {
    case opcode::kReliableConnection:
      return verbs::QpType::kRc;
    case opcode::kUnreliableConnection:
      return verbs::QpType::kUc;
    case opcode::kUnreliableDatagram:
      return verbs::QpType::kUd;
    default:
      return std::nullopt;
  }
}

// The AETH syndrome: IBA vol 1 tables 45 and 46.
absl::Status ReadSyndrome(uint8_t bits, Transport& transport) {
  constexpr Syndrome kNaks[] = {
      Syndrome::kSequenceError, Syndrome::kInvalidRequest,
      Syndrome::kAccessError, Syndrome::kOperationError};
  const size_t value = bits & syndrome::kValueMask;
  switch (bits & syndrome::kKindMask) {
    case syndrome::kAck:
      transport.syndrome = Syndrome::kAck;
      return absl::OkStatus();
    case syndrome::kRnrNak:
      transport.syndrome = Syndrome::kRnrNak;
      transport.rnr_timer = static_cast<uint8_t>(value);
      return absl::OkStatus();
    case syndrome::kNak:
      if (value < std::size(kNaks)) {
        transport.syndrome = kNaks[value];
        return absl::OkStatus();
      }
      break;
    default:
      break;
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("AETH has the reserved syndrome 0x%02x", bits));
}

absl::Status ReadExtended(PacketReader& reader, Transport& transport) {
  switch (transport.operation) {
    case Operation::kSend: {
      if (!transport.has_invalidate) break;
      wire::InvalidateHeader ieth;
      IBEMU_RETURN_IF_ERROR(reader.Take(ieth, "IETH"));
      transport.key = ieth.key;
      break;
    }
    case Operation::kWrite:
      if (!transport.first) break;
      [[fallthrough]];
    case Operation::kReadRequest: {
      wire::RdmaHeader reth;
      IBEMU_RETURN_IF_ERROR(reader.Take(reth, "RETH"));
      transport.address = reth.address;
      transport.key = reth.key;
      transport.length = reth.length;
      break;
    }
    case Operation::kCompareSwap:
    case Operation::kFetchAdd: {
      wire::AtomicHeader atomic;
      IBEMU_RETURN_IF_ERROR(reader.Take(atomic, "AtomicETH"));
      transport.address = atomic.address;
      transport.key = atomic.key;
      transport.swap_or_add = atomic.swap_or_add;
      transport.compare = atomic.compare;
      break;
    }
    case Operation::kReadResponse:
      if (!transport.first && !transport.last) break;
      [[fallthrough]];
    case Operation::kAcknowledge:
    case Operation::kAtomicResponse: {
      wire::AcknowledgeHeader aeth;
      IBEMU_RETURN_IF_ERROR(reader.Take(aeth, "AETH"));
      IBEMU_RETURN_IF_ERROR(ReadSyndrome(aeth.syndrome, transport));
      break;
    }
  }
  if (transport.operation == Operation::kAtomicResponse) {
    wire::AtomicAcknowledgeHeader original;
    IBEMU_RETURN_IF_ERROR(reader.Take(original, "AtomicAckETH"));
    transport.original = original.original;
  }
  if (!transport.has_immediate) return absl::OkStatus();
  return reader.TakeRaw(
      std::as_writable_bytes(std::span(&transport.immediate, 1)), "ImmDt");
}

absl::Status ReadTransport(PacketReader& reader,
                           const wire::BaseTransportHeader& bth,
                           verbs::QpType service, Packet& packet) {
  const std::optional<OpcodeMeaning> meaning =
      MeaningOf(bth.opcode & opcode::kOperationMask);
  const bool is_request = meaning && !meaning->invalidate &&
                          (meaning->operation == Operation::kSend ||
                           meaning->operation == Operation::kWrite);
  if (!meaning || (service == verbs::QpType::kUc && !is_request)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BTH has the opcode 0x%02x", bth.opcode));
  }
  Transport transport;
  transport.service = service;
  transport.operation = meaning->operation;
  transport.first = meaning->first;
  transport.last = meaning->last;
  transport.has_immediate = meaning->immediate;
  transport.has_invalidate = meaning->invalidate;
  transport.solicited = bth.solicited;
  transport.ack_request = bth.ack_request;
  transport.psn = bth.psn;
  IBEMU_RETURN_IF_ERROR(ReadExtended(reader, transport));
  transport.size = reader.left().size();
  if (transport.size != 0) {
    transport.message = std::make_shared<std::vector<std::byte>>(
        reader.left().begin(), reader.left().end());
  }
  packet.transport = std::make_shared<const Transport>(std::move(transport));
  return absl::OkStatus();
}

absl::Status ReadDatagram(PacketReader& reader,
                          const wire::BaseTransportHeader& bth,
                          Packet& packet) {
  const uint8_t operation = bth.opcode & opcode::kOperationMask;
  if (operation != opcode::kSendOnly &&
      operation != opcode::kSendOnlyImmediate) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BTH has the opcode 0x%02x", bth.opcode));
  }
  wire::DatagramHeader deth;
  IBEMU_RETURN_IF_ERROR(reader.Take(deth, "DETH"));
  packet.q_key = deth.q_key;
  packet.source_qpn = deth.source_qpn;
  if (bth.destination_qpn > 1) {
    return ReadTransport(reader, bth, verbs::QpType::kUd, packet);
  }
  if (reader.left().size() != packet.mad.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "a MAD has %d bytes, not %d", packet.mad.size(), reader.left().size()));
  }
  return reader.TakeRaw(packet.mad, "MAD");
}

}  // namespace

absl::StatusOr<Packet> ParsePacket(std::span<const std::byte> bytes) {
  PacketReader reader(bytes);
  Packet packet;
  wire::LocalRouteHeader lrh;
  IBEMU_RETURN_IF_ERROR(reader.Take(lrh, "LRH"));
  if (size_t{lrh.words} * 4 != bytes.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "LRH says %d bytes, the packet has %d", lrh.words * 4, bytes.size()));
  }
  packet.vl15 = lrh.vl == kSubnetManagementLane;
  packet.sl = lrh.sl;
  packet.slid = lrh.slid;
  packet.dlid = lrh.dlid;
  if (lrh.next_header == wire::NextHeader::kGrh) {
    wire::GlobalRouteHeader grh;
    IBEMU_RETURN_IF_ERROR(reader.Take(grh, "GRH"));
    packet.grh = RouteHeader{.sgid = grh.sgid,
                             .dgid = grh.dgid,
                             .flow_label = grh.flow_label,
                             .traffic_class = grh.traffic_class,
                             .hop_limit = grh.hop_limit};
  } else if (lrh.next_header != wire::NextHeader::kBth) {
    return absl::InvalidArgumentError("LRH announces a raw packet");
  }
  wire::BaseTransportHeader bth;
  IBEMU_RETURN_IF_ERROR(reader.Take(bth, "BTH"));
  IBEMU_RETURN_IF_ERROR(reader.Drop(kParsedIcrc, "ICRC"));
  IBEMU_RETURN_IF_ERROR(reader.Drop(bth.pad, "the padding"));
  packet.p_key = bth.p_key;
  packet.destination_qpn = bth.destination_qpn;
  packet.migrated = bth.migrated;
  const std::optional<verbs::QpType> service = ServiceOf(bth.opcode);
  if (!service) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BTH has the opcode 0x%02x", bth.opcode));
  }
  const bool datagram = *service == verbs::QpType::kUd;
  if (packet.vl15 && !(datagram && packet.destination_qpn == 0)) {
    return absl::InvalidArgumentError("lane 15 is for queue pair 0 alone");
  }
  if (datagram && packet.destination_qpn == 0 && !packet.vl15) {
    return absl::InvalidArgumentError("queue pair 0 is for lane 15 alone");
  }
  IBEMU_RETURN_IF_ERROR(datagram
                            ? ReadDatagram(reader, bth, packet)
                            : ReadTransport(reader, bth, *service, packet));
  return packet;
}

}  // namespace ibemu::fabric
