#include "hca/model/mlx4/core/parsed_packet.h"

namespace ibemu::hca::model::mlx4 {

std::optional<ParsedPacket> ParsePacket(std::span<const std::byte> bytes) {
  ParsedPacket packet;
  packet.rest = bytes;
  const auto lrh = packet.Take<wire::LocalRouteHeader>();
  if (!lrh || size_t{lrh->words} * 4 != bytes.size()) return std::nullopt;
  packet.lrh = *lrh;
  if (lrh->next_header == wire::NextHeader::kGrh) {
    packet.grh = packet.Take<wire::GlobalRouteHeader>();
    if (!packet.grh ||
        packet.grh->next_header != wire::GlobalRouteHeader::kIbaTransport) {
      return std::nullopt;
    }
  } else if (lrh->next_header != wire::NextHeader::kBth) {
    return std::nullopt;
  }
  const auto bth = packet.Take<wire::BaseTransportHeader>();
  if (!bth || packet.rest.size() < kIcrcBytes + bth->pad) return std::nullopt;
  packet.bth = *bth;
  packet.rest = packet.rest.first(packet.rest.size() - kIcrcBytes - bth->pad);
  return packet;
}

std::vector<std::byte> BuildPacket(wire::LocalRouteHeader lrh,
                                   std::optional<wire::GlobalRouteHeader> grh,
                                   wire::BaseTransportHeader bth,
                                   std::span<const std::byte> headers,
                                   std::span<const std::byte> payload) {
  bth.pad = static_cast<uint8_t>((4 - payload.size() % 4) % 4);
  const size_t transport = wire::kBytes<wire::BaseTransportHeader> +
                           headers.size() + payload.size() + bth.pad +
                           kIcrcBytes;
  const size_t total =
      wire::kBytes<wire::LocalRouteHeader> + (grh ? kGrhBytes : 0) + transport;
  lrh.words = static_cast<uint16_t>(total / 4);
  lrh.next_header = grh ? wire::NextHeader::kGrh : wire::NextHeader::kBth;
  std::vector<std::byte> bytes;
  bytes.reserve(total);
  wire::Append(lrh, bytes);
  if (grh) {
    grh->payload = static_cast<uint16_t>(transport);
    wire::Append(*grh, bytes);
  }
  wire::Append(bth, bytes);
  bytes.insert(bytes.end(), headers.begin(), headers.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  bytes.resize(total);
  return bytes;
}

}  // namespace ibemu::hca::model::mlx4
