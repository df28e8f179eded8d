#include "daemon/remote_node/format/packet_train.h"

#include <memory>

#include "base/status_macros.h"
#include "fabric/packet/packet_parser.h"
#include "fabric/packet/single_packet.h"
#include "fabric/packet/transport.h"

namespace ibemu::daemon {
namespace {

using fabric::Packet, fabric::SingleOf, fabric::Transport;
using Bytes = std::span<const std::byte>;

Bytes PayloadOf(const Transport& transport) {
  if (transport.message == nullptr) return {};
  return Bytes(*transport.message).subspan(transport.offset, transport.size);
}

bool HasParts(const PacketTrain& header, size_t bytes) {
  return header.packets >= 2 && header.packets <= PacketTrain::kMaxPackets &&
         header.first_bytes <= bytes &&
         header.last_bytes <= bytes - header.first_bytes;
}

// Returns whether `last` may be the last of so many packets that begin with
// `first`.
bool Belong(const Packet& first, const Packet& last, uint32_t packets) {
  if (first.transport == nullptr || last.transport == nullptr) return false;
  const Transport& one = *first.transport;
  const Transport& other = *last.transport;
  return first.slid == last.slid && first.dlid == last.dlid &&
         first.sl == last.sl && first.p_key == last.p_key &&
         first.destination_qpn == last.destination_qpn &&
         one.service == other.service && one.operation == other.operation &&
         one.service != verbs::QpType::kUd && !one.last && !other.first &&
         one.size > 0 && other.size <= one.size &&
         other.psn == wire::PsnAfter(one.psn, packets - 1);
}

// The payload of a message kTrain, in parts.
struct TrainParts {
  explicit TrainParts(const Packet& packets)
      : count(packets.Count()),
        first(EncodePacket(SingleOf(packets, 0))),
        last(EncodePacket(SingleOf(packets, count - 1))),
        between(PayloadOf(*packets.transport)
                    .subspan(packets.transport->payload,
                             size_t{count - 2} * packets.transport->payload)) {}

  size_t size() const {
    return wire::kBytes<PacketTrain> + first.size() + last.size() +
           between.size();
  }
  void AppendTo(std::vector<std::byte>& bytes) const {
    wire::Append(PacketTrain{.packets = count,
                             .first_bytes = static_cast<uint32_t>(first.size()),
                             .last_bytes = static_cast<uint32_t>(last.size())},
                 bytes);
    for (const Bytes part : {Bytes(first), Bytes(last), between}) {
      bytes.insert(bytes.end(), part.begin(), part.end());
    }
  }

  uint32_t count;
  std::vector<std::byte> first, last;
  Bytes between;
};

}  // namespace

std::vector<std::byte> EncodeTrain(const Packet& packets) {
  const TrainParts parts(packets);
  std::vector<std::byte> bytes;
  bytes.reserve(parts.size());
  parts.AppendTo(bytes);
  return bytes;
}

absl::StatusOr<Packet> DecodeTrain(Bytes payload) {
  const auto no_train = [] {
    return absl::InvalidArgumentError("these are no consecutive packets");
  };
  if (payload.size() < wire::kBytes<PacketTrain>) return no_train();
  const auto header = wire::Decode<PacketTrain>(payload);
  Bytes left = payload.subspan(wire::kBytes<PacketTrain>);
  if (!HasParts(header, left.size())) return no_train();
  IBEMU_ASSIGN_OR_RETURN(Packet packets,
                         fabric::ParsePacket(left.first(header.first_bytes)));
  left = left.subspan(header.first_bytes);
  IBEMU_ASSIGN_OR_RETURN(const Packet last,
                         fabric::ParsePacket(left.first(header.last_bytes)));
  left = left.subspan(header.last_bytes);
  if (!Belong(packets, last, header.packets) ||
      left.size() != size_t{header.packets - 2} * packets.transport->size) {
    return no_train();
  }
  Transport all = *packets.transport;
  const Bytes begin = PayloadOf(*packets.transport);
  const Bytes end = PayloadOf(*last.transport);
  auto message = std::make_shared<std::vector<std::byte>>();
  message->reserve(begin.size() + left.size() + end.size());
  for (const Bytes part : {begin, left, end}) {
    message->insert(message->end(), part.begin(), part.end());
  }
  all.packets = header.packets;
  all.payload = static_cast<uint32_t>(begin.size());
  all.size = message->size();
  all.offset = 0;
  all.message = std::move(message);
  all.last = last.transport->last;
  all.ack_request = last.transport->ack_request;
  all.solicited = last.transport->solicited;
  all.has_immediate = last.transport->has_immediate;
  all.immediate = last.transport->immediate;
  all.has_invalidate = last.transport->has_invalidate;
  if (all.has_invalidate) all.key = last.transport->key;
  packets.transport = std::make_shared<Transport>(std::move(all));
  return packets;
}

bool GoesByConnection(const Packet& packets) {
  return packets.transport != nullptr &&
         (packets.transport->service != verbs::QpType::kUd ||
          packets.destination_qpn > 1);
}

void AppendPackets(int port, const Packet& packets,
                   std::vector<std::byte>& bytes) {
  const uint32_t count = packets.Count();
  if (count > 1 && count <= PacketTrain::kMaxPackets) {
    const TrainParts parts(packets);
    AppendHeader(NodeLinkMessage::kTrain, port, parts.size(), bytes);
    return parts.AppendTo(bytes);
  }
  for (uint32_t i = 0; i < count; ++i) {
    AppendMessage(NodeLinkMessage::kPacket, port,
                  EncodePacket(count == 1 ? packets : SingleOf(packets, i)),
                  bytes);
  }
}

absl::StatusOr<Packet> DecodePackets(const NodeLinkSplitter::Message& message) {
  if (message.type == NodeLinkMessage::kTrain) {
    return DecodeTrain(message.payload);
  }
  if (message.type == NodeLinkMessage::kPacket) {
    IBEMU_ASSIGN_OR_RETURN(Packet packet, fabric::ParsePacket(message.payload));
    if (packet.transport != nullptr) return packet;
  }
  return absl::InvalidArgumentError(
      "the connection is for packets of queue pairs");
}

}  // namespace ibemu::daemon
