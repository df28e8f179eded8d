#include "ipoib/netdev/ip_packet.h"

#include "ipoib/wire/ip_headers.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint8_t kHopByHop = 0;  // the header that may be the first of IPv6's

std::optional<IpPacket> ParseIpv4(Bytes bytes) {
  if (bytes.size() < wire::kBytes<Ipv4Header>) return std::nullopt;
  const auto ip = wire::Decode<Ipv4Header>(bytes);
  const size_t header = size_t{ip.header_words} * 4;
  if (header < wire::kBytes<Ipv4Header> || ip.total_bytes < header ||
      ip.total_bytes > bytes.size()) {
    return std::nullopt;
  }
  return IpPacket{.source = wire::IpAddress::Ipv4(ip.source),
                  .destination = wire::IpAddress::Ipv4(ip.destination),
                  .protocol = static_cast<uint8_t>(ip.protocol),
                  .is_later_fragment = ip.fragment_offset != 0,
                  .payload = bytes.first(ip.total_bytes).subspan(header)};
}

std::optional<IpPacket> ParseIpv6(Bytes bytes) {
  if (bytes.size() < wire::kBytes<Ipv6Header>) return std::nullopt;
  const auto ip = wire::Decode<Ipv6Header>(bytes);
  bytes = bytes.subspan(wire::kBytes<Ipv6Header>);
  if (ip.payload_bytes > bytes.size()) return std::nullopt;
  IpPacket packet{.source = wire::IpAddress::Ipv6(ip.source),
                  .destination = wire::IpAddress::Ipv6(ip.destination),
                  .protocol = static_cast<uint8_t>(ip.next_header),
                  .payload = bytes.first(ip.payload_bytes)};
  if (packet.protocol != kHopByHop) return packet;
  constexpr size_t kUnit = 8;  // bytes, in which its length counts
  if (packet.payload.size() < kUnit) return std::nullopt;
  const size_t options =
      (std::to_integer<size_t>(packet.payload[1]) + 1) * kUnit;
  if (options > packet.payload.size()) return std::nullopt;
  packet.protocol = std::to_integer<uint8_t>(packet.payload[0]);
  packet.payload = packet.payload.subspan(options);
  return packet;
}

}  // namespace

std::optional<IpPacket> ParseIpPacket(Bytes bytes) {
  if (bytes.empty()) return std::nullopt;
  switch (std::to_integer<int>(bytes[0] >> 4)) {
    case 4:
      return ParseIpv4(bytes);
    case 6:
      return ParseIpv6(bytes);
    default:
      return std::nullopt;
  }
}

std::vector<std::byte> Encapsulate(EtherType type, Bytes packet) {
  std::vector<std::byte> datagram;
  datagram.reserve(wire::kBytes<Encapsulation> + packet.size());
  wire::Append(Encapsulation{.type = type}, datagram);
  datagram.insert(datagram.end(), packet.begin(), packet.end());
  return datagram;
}

}  // namespace ibemu::ipoib
