#include "fabric/packet_parser.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "fabric/transport.h"
#include "mad/wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;

constexpr size_t kParsedIcrc = 4;
constexpr uint8_t kSubnetManagementLane = 15;

// Headers are taken off the front.
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
  // From the back: padding and CRC.
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

// IBA vol 1 table 38, the lower five bits of OpCode.
struct OpcodeMeaning {
  Operation operation;
  bool first, last, immediate;
};

std::optional<OpcodeMeaning> MeaningOf(uint8_t operation) {
  constexpr bool kYes = true, kNo = false;
  switch (operation) {
    case 0x00:
    case 0x06:
      return {{operation == 0 ? Operation::kSend : Operation::kWrite, kYes, kNo,
               kNo}};
    case 0x01:
    case 0x07:
      return {{operation == 1 ? Operation::kSend : Operation::kWrite, kNo, kNo,
               kNo}};
    case 0x02:
    case 0x03:
      return {{Operation::kSend, kNo, kYes, operation == 0x03}};
    case 0x04:
    case 0x05:
      return {{Operation::kSend, kYes, kYes, operation == 0x05}};
    case 0x08:
    case 0x09:
      return {{Operation::kWrite, kNo, kYes, operation == 0x09}};
    case 0x0a:
    case 0x0b:
      return {{Operation::kWrite, kYes, kYes, operation == 0x0b}};
    case 0x0c:
      return {{Operation::kReadRequest, kYes, kYes, kNo}};
    case 0x0d:
      return {{Operation::kReadResponse, kYes, kNo, kNo}};
    case 0x0e:
      return {{Operation::kReadResponse, kNo, kNo, kNo}};
    case 0x0f:
      return {{Operation::kReadResponse, kNo, kYes, kNo}};
    case 0x10:
      return {{Operation::kReadResponse, kYes, kYes, kNo}};
    case 0x11:
      return {{Operation::kAcknowledge, kYes, kYes, kNo}};
    case 0x12:
      return {{Operation::kAtomicResponse, kYes, kYes, kNo}};
    case 0x13:
      return {{Operation::kCompareSwap, kYes, kYes, kNo}};
    case 0x14:
      return {{Operation::kFetchAdd, kYes, kYes, kNo}};
    default:
      return std::nullopt;
  }
}

// The upper three bits.
std::optional<verbs::QpType> ServiceOf(uint8_t opcode) {
  switch (opcode >> 5) {
    case 0:
      return verbs::QpType::kReliable;
    case 1:
      return verbs::QpType::kUnreliable;
    case 3:
      return verbs::QpType::kDatagram;
    default:
      return std::nullopt;
  }
}

// Tables 45 and 46.
absl::Status ReadSyndrome(uint8_t bits, Transport& transport) {
  constexpr Syndrome kNaks[] = {
      Syndrome::kSequenceError, Syndrome::kInvalidRequest,
      Syndrome::kAccessError, Syndrome::kOperationError};
  const size_t value = bits & 31;
  switch (bits >> 5) {
    case 0:
      transport.syndrome = Syndrome::kAck;
      return absl::OkStatus();
    case 1:
      transport.syndrome = Syndrome::kRnrNak;
      transport.rnr_timer = static_cast<uint8_t>(value);
      return absl::OkStatus();
    case 3:
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
    case Operation::kSend:
      break;
    case Operation::kWrite:
      if (!transport.first) break;
      [[fallthrough]];
    case Operation::kReadRequest: {
      mad::RdmaHeader reth;
      IBEMU_RETURN_IF_ERROR(reader.Take(reth, "RETH"));
      transport.address = reth.address;
      transport.key = reth.key;
      transport.length = reth.length;
      break;
    }
    case Operation::kCompareSwap:
    case Operation::kFetchAdd: {
      mad::AtomicHeader atomic;
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
      mad::AcknowledgeHeader aeth;
      IBEMU_RETURN_IF_ERROR(reader.Take(aeth, "AETH"));
      IBEMU_RETURN_IF_ERROR(ReadSyndrome(aeth.syndrome, transport));
      break;
    }
  }
  if (transport.operation == Operation::kAtomicResponse) {
    mad::AtomicAcknowledgeHeader original;
    IBEMU_RETURN_IF_ERROR(reader.Take(original, "AtomicAckETH"));
    transport.original = original.original;
  }
  if (!transport.has_immediate) return absl::OkStatus();
  return reader.TakeRaw(
      std::as_writable_bytes(std::span(&transport.immediate, 1)), "ImmDt");
}

absl::Status ReadTransport(PacketReader& reader,
                           const mad::BaseTransportHeader& bth,
                           verbs::QpType service, Packet& packet) {
  const std::optional<OpcodeMeaning> meaning = MeaningOf(bth.opcode & 31);
  const bool is_request = meaning && (meaning->operation == Operation::kSend ||
                                      meaning->operation == Operation::kWrite);
  if (!meaning || (service == verbs::QpType::kUnreliable && !is_request)) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BTH has the opcode 0x%02x", bth.opcode));
  }
  Transport transport;
  transport.service = service;
  transport.operation = meaning->operation;
  transport.first = meaning->first;
  transport.last = meaning->last;
  transport.has_immediate = meaning->immediate;
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
                          const mad::BaseTransportHeader& bth, Packet& packet) {
  constexpr uint8_t kSendOnly = 0x04, kSendOnlyImmediate = 0x05;
  const uint8_t operation = bth.opcode & 31;
  if (operation != kSendOnly && operation != kSendOnlyImmediate) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BTH has the opcode 0x%02x", bth.opcode));
  }
  mad::DatagramHeader deth;
  IBEMU_RETURN_IF_ERROR(reader.Take(deth, "DETH"));
  packet.q_key = deth.q_key;
  packet.source_qpn = deth.source_qpn;
  if (bth.destination_qpn > 1) {
    return ReadTransport(reader, bth, verbs::QpType::kDatagram, packet);
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
  mad::LocalRouteHeader lrh;
  IBEMU_RETURN_IF_ERROR(reader.Take(lrh, "LRH"));
  if (size_t{lrh.words} * 4 != bytes.size()) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "LRH says %d bytes, the packet has %d", lrh.words * 4, bytes.size()));
  }
  packet.vl15 = lrh.vl == kSubnetManagementLane;
  packet.sl = lrh.sl;
  packet.slid = lrh.slid;
  packet.dlid = lrh.dlid;
  if (lrh.next_header == mad::NextHeader::kGrh) {
    mad::GlobalRouteHeader grh;
    IBEMU_RETURN_IF_ERROR(reader.Take(grh, "GRH"));
    packet.grh = RouteHeader{.sgid = grh.sgid,
                             .dgid = grh.dgid,
                             .flow_label = grh.flow_label,
                             .traffic_class = grh.traffic_class,
                             .hop_limit = grh.hop_limit};
  } else if (lrh.next_header != mad::NextHeader::kBth) {
    return absl::InvalidArgumentError("LRH announces a raw packet");
  }
  mad::BaseTransportHeader bth;
  IBEMU_RETURN_IF_ERROR(reader.Take(bth, "BTH"));
  IBEMU_RETURN_IF_ERROR(reader.Drop(kParsedIcrc, "ICRC"));
  IBEMU_RETURN_IF_ERROR(reader.Drop(bth.pad, "the padding"));
  packet.p_key = bth.p_key;
  packet.destination_qpn = bth.destination_qpn;
  const std::optional<verbs::QpType> service = ServiceOf(bth.opcode);
  if (!service) {
    return absl::InvalidArgumentError(
        absl::StrFormat("BTH has the opcode 0x%02x", bth.opcode));
  }
  const bool datagram = *service == verbs::QpType::kDatagram;
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
