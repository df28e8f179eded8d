#include "fabric/packet/packet_bytes.h"

#include <algorithm>
#include <cstring>

#include "fabric/packet/packet_crc.h"
#include "fabric/packet/transport.h"
#include "wire/opcode.h"
#include "wire/packet_headers.h"

namespace ibemu::fabric {
namespace {

namespace opcode = wire::opcode;
namespace syndrome = wire::syndrome;

using Operation = Transport::Operation;
using Syndrome = Transport::Syndrome;

constexpr size_t kIcrcBytes = 4;
constexpr size_t kVcrcBytes = 2;

uint8_t ServiceBits(verbs::QpType service) {
  switch (service) {
    case verbs::QpType::kUc:
      return opcode::kUnreliableConnection << opcode::kServiceShift;
    case verbs::QpType::kUd:
      return opcode::kUnreliableDatagram << opcode::kServiceShift;
    default:
      return opcode::kReliableConnection << opcode::kServiceShift;
  }
}

// Returns the opcode of a packet within a message.  The opcodes for MIDDLE,
// LAST, LAST with immediate, ONLY and ONLY with immediate follow `first_opcode`
// in this order.
uint8_t InMessage(uint8_t first_opcode, const Transport& transport) {
  const int immediate = transport.has_immediate ? 1 : 0;
  if (transport.first && transport.last) return first_opcode + 4 + immediate;
  if (transport.last) return first_opcode + 2 + immediate;
  return first_opcode + (transport.first ? 0 : 1);
}

uint8_t OperationBits(const Transport& transport) {
  switch (transport.operation) {
    case Operation::kSend:
      if (transport.has_invalidate && transport.last) {
        return transport.first ? opcode::kSendOnlyInvalidate
                               : opcode::kSendLastInvalidate;
      }
      return InMessage(opcode::kSendFirst, transport);
    case Operation::kWrite:
      return InMessage(opcode::kWriteFirst, transport);
    case Operation::kReadRequest:
      return opcode::kReadRequest;
    case Operation::kReadResponse:
      if (transport.first && transport.last) return opcode::kReadResponseOnly;
      if (transport.first) return opcode::kReadResponseFirst;
      return transport.last ? opcode::kReadResponseLast
                            : opcode::kReadResponseMiddle;
    case Operation::kAcknowledge:
      return opcode::kAcknowledge;
    case Operation::kAtomicResponse:
      return opcode::kAtomicAcknowledge;
    case Operation::kCompareSwap:
      return opcode::kCompareSwap;
    case Operation::kFetchAdd:
      return opcode::kFetchAdd;
  }
  return 0;
}

// The AETH syndrome: IBA vol 1 tables 45 and 46.
uint8_t SyndromeBits(const Transport& transport) {
  switch (transport.syndrome) {
    case Syndrome::kAck:
      return syndrome::kAck | syndrome::kNoCredits;
    case Syndrome::kRnrNak:
      return syndrome::kRnrNak | (transport.rnr_timer & syndrome::kValueMask);
    case Syndrome::kSequenceError:
      return syndrome::kNak | syndrome::kSequenceError;
    case Syndrome::kInvalidRequest:
      return syndrome::kNak | syndrome::kInvalidRequest;
    case Syndrome::kAccessError:
      return syndrome::kNak | syndrome::kRemoteAccessError;
    case Syndrome::kOperationError:
      return syndrome::kNak | syndrome::kRemoteOperationError;
  }
  return syndrome::kNak;
}

// A buffer to which headers are appended.
class PacketWriter {
 public:
  explicit PacketWriter(size_t length) { bytes_.reserve(length); }

  template <wire::Structure T>
  void Add(const T& header) {
    wire::Append(header, bytes_);
  }
  void Add(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void AddPad(size_t count) { bytes_.resize(bytes_.size() + count); }
  // Appends `crc`, least significant byte first.
  void AddCrc(uint32_t crc, size_t size) {
    for (size_t i = 0; i < size; ++i, crc >>= 8) {
      bytes_.push_back(static_cast<std::byte>(crc));
    }
  }

  std::vector<std::byte>& bytes() { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// Appends the extended headers and the payload (§9.4 and its tables of each
// operation).
void AddTransport(PacketWriter& writer, const Packet& packet) {
  const Transport& transport = *packet.transport;
  if (transport.service == verbs::QpType::kUd) {
    writer.Add(wire::DatagramHeader{.q_key = packet.q_key,
                                    .source_qpn = packet.source_qpn});
  }
  switch (transport.operation) {
    case Operation::kWrite:
      if (!transport.first) break;
      [[fallthrough]];
    case Operation::kReadRequest:
      writer.Add(wire::RdmaHeader{.address = transport.address,
                                  .key = transport.key,
                                  .length = transport.length});
      break;
    case Operation::kCompareSwap:
    case Operation::kFetchAdd:
      writer.Add(wire::AtomicHeader{.address = transport.address,
                                    .key = transport.key,
                                    .swap_or_add = transport.swap_or_add,
                                    .compare = transport.compare});
      break;
    case Operation::kReadResponse:
      if (!transport.first && !transport.last) break;
      [[fallthrough]];
    case Operation::kAcknowledge:
    case Operation::kAtomicResponse:
      writer.Add(wire::AcknowledgeHeader{.syndrome = SyndromeBits(transport)});
      break;
    case Operation::kSend:
      if (transport.has_invalidate) {
        writer.Add(wire::InvalidateHeader{.key = transport.key});
      }
      break;
  }
  if (transport.operation == Operation::kAtomicResponse) {
    writer.Add(wire::AtomicAcknowledgeHeader{.original = transport.original});
  }
  if (transport.has_immediate) {
    writer.Add(std::as_bytes(std::span(&transport.immediate, 1)));
  }
  if (transport.size == 0) return;
  writer.Add(
      std::span(*transport.message).subspan(transport.offset, transport.size));
  writer.AddPad(-transport.size & 3);
}

wire::BaseTransportHeader BthOf(const Packet& packet) {
  wire::BaseTransportHeader bth{.opcode = opcode::kUdSendOnly,
                                .p_key = packet.p_key,
                                .destination_qpn = packet.destination_qpn};
  if (packet.transport == nullptr) return bth;
  const Transport& transport = *packet.transport;
  bth.opcode = OpcodeOf(transport);
  bth.solicited = transport.solicited;
  bth.migrated = packet.migrated && transport.service != verbs::QpType::kUd;
  bth.pad = static_cast<uint8_t>(-transport.size & 3);
  bth.ack_request =
      transport.ack_request && transport.service == verbs::QpType::kRc;
  bth.psn = transport.psn;
  return bth;
}

// From LRH to the end of the padded payload, with room for the checksums.
PacketWriter WithoutCrc(const Packet& packet, uint8_t vl) {
  constexpr size_t kRouting = wire::kBytes<wire::LocalRouteHeader> +
                              wire::kBytes<wire::GlobalRouteHeader>;
  const size_t length = LengthOf(packet);
  PacketWriter writer(length);
  writer.Add(
      wire::LocalRouteHeader{.vl = packet.vl15 ? uint8_t{15} : vl,
                             .sl = packet.sl,
                             .next_header = packet.grh ? wire::NextHeader::kGrh
                                                       : wire::NextHeader::kBth,
                             .dlid = packet.dlid,
                             .words = static_cast<uint16_t>(packet.Words()),
                             .slid = packet.slid});
  if (packet.grh) {
    writer.Add(GrhOf(*packet.grh, length - kRouting - kVcrcBytes));
  }
  writer.Add(BthOf(packet));
  if (packet.transport != nullptr) {
    AddTransport(writer, packet);
  } else {
    writer.Add(wire::DatagramHeader{.q_key = packet.q_key,
                                    .source_qpn = packet.source_qpn});
    writer.Add(std::span<const std::byte>(packet.mad));
  }
  return writer;
}

}  // namespace

uint8_t OpcodeOf(const Transport& transport) {
  return static_cast<uint8_t>(ServiceBits(transport.service) |
                              OperationBits(transport));
}

wire::GlobalRouteHeader GrhOf(const RouteHeader& route, size_t payload) {
  return {.traffic_class = route.traffic_class,
          .flow_label = route.flow_label,
          .payload = static_cast<uint16_t>(payload),
          .hop_limit = route.hop_limit,
          .sgid = route.sgid,
          .dgid = route.dgid};
}

size_t LengthOf(const Packet& packet) {
  return size_t{packet.Words()} * 4 + kVcrcBytes;
}

std::vector<std::byte> BytesOf(const Packet& packet, uint8_t vl) {
  PacketWriter writer = WithoutCrc(packet, vl);
  writer.AddCrc(InvariantCrc(writer.bytes()), kIcrcBytes);
  writer.AddCrc(VariantCrc(writer.bytes()), kVcrcBytes);
  return std::move(writer.bytes());
}

std::vector<std::byte> UncheckedBytesOf(const Packet& packet) {
  PacketWriter writer = WithoutCrc(packet, 0);
  writer.AddCrc(0, kIcrcBytes);
  return std::move(writer.bytes());
}

}  // namespace ibemu::fabric
