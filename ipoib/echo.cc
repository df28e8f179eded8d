#include "ipoib/echo.h"

#include <cstdint>

#include "ipoib/wire/checksum.h"
#include "ipoib/wire/hardware_address.h"
#include "ipoib/wire/ip_headers.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;
using Answer = std::optional<std::vector<std::byte>>;

constexpr uint8_t kDontFragment = 2, kMoreFragments = 1;

bool MayBeAnswered(const wire::IpAddress& source) {
  constexpr uint32_t kBroadcast = 0xffffffff;
  return !source.IsUnspecified() && !source.IsMulticast() &&
         !(source.is_ipv4() && source.ipv4() == kBroadcast);
}

bool IsRequest(Bytes message, uint8_t type) {
  if (message.size() < wire::kBytes<EchoHeader>) return false;
  const auto icmp = wire::Decode<IcmpHeader>(message);
  return icmp.type == type && icmp.code == 0;
}

// Returns the reply to an echo message, without a checksum.
std::vector<std::byte> ReplyTo(Bytes request, uint8_t type) {
  std::vector<std::byte> reply(request.begin(), request.end());
  wire::Put<&IcmpHeader::type>(reply, type);
  wire::Put<&IcmpHeader::checksum>(reply, 0);
  return reply;
}

std::vector<std::byte> Packet(EtherType type) {
  std::vector<std::byte> packet;
  wire::Append(Encapsulation{.type = type}, packet);
  return packet;
}

Answer AnswerIpv4(Bytes bytes, std::span<const wire::IpNetwork> own) {
  if (bytes.size() < wire::kBytes<Ipv4Header>) return std::nullopt;
  const auto ip = wire::Decode<Ipv4Header>(bytes);
  const size_t header = size_t{ip.header_words} * 4;
  if (ip.version != 4 || header < wire::kBytes<Ipv4Header> ||
      ip.total_bytes < header || ip.total_bytes > bytes.size() ||
      Checksum(bytes.first(header)) != 0 || (ip.flags & kMoreFragments) != 0 ||
      ip.fragment_offset != 0 || ip.protocol != IpProtocol::kIcmp) {
    return std::nullopt;
  }
  const Bytes message = bytes.first(ip.total_bytes).subspan(header);
  if (!wire::IsOwnAddress(wire::IpAddress::Ipv4(ip.destination), own) ||
      !MayBeAnswered(wire::IpAddress::Ipv4(ip.source)) ||
      !IsRequest(message, static_cast<uint8_t>(IcmpType::kEchoRequest)) ||
      Checksum(message) != 0) {
    return std::nullopt;
  }
  std::vector<std::byte> reply =
      ReplyTo(message, static_cast<uint8_t>(IcmpType::kEchoReply));
  wire::Put<&IcmpHeader::checksum>(reply, Checksum(reply));
  std::vector<std::byte> packet = Packet(EtherType::kIpv4);
  const size_t start = packet.size();
  wire::Append(Ipv4Header{.type_of_service = ip.type_of_service,
                          .total_bytes = static_cast<uint16_t>(
                              wire::kBytes<Ipv4Header> + reply.size()),
                          .flags = kDontFragment,
                          .protocol = IpProtocol::kIcmp,
                          .source = ip.destination,
                          .destination = ip.source},
               packet);
  const auto own_header = std::span(packet).subspan(start);
  wire::Put<&Ipv4Header::checksum>(own_header, Checksum(own_header));
  packet.insert(packet.end(), reply.begin(), reply.end());
  return packet;
}

Answer AnswerIpv6(Bytes bytes, std::span<const wire::IpNetwork> own) {
  if (bytes.size() < wire::kBytes<Ipv6Header>) return std::nullopt;
  const auto ip = wire::Decode<Ipv6Header>(bytes);
  bytes = bytes.subspan(wire::kBytes<Ipv6Header>);
  if (ip.version != 6 || ip.next_header != IpProtocol::kIcmpv6 ||
      ip.payload_bytes > bytes.size()) {
    return std::nullopt;
  }
  const Bytes message = bytes.first(ip.payload_bytes);
  if (!wire::IsOwnAddress(wire::IpAddress::Ipv6(ip.destination), own) ||
      !MayBeAnswered(wire::IpAddress::Ipv6(ip.source)) ||
      !IsRequest(message, static_cast<uint8_t>(Icmpv6Type::kEchoRequest)) ||
      Icmpv6Checksum(ip.source, ip.destination, message) != 0) {
    return std::nullopt;
  }
  std::vector<std::byte> reply =
      ReplyTo(message, static_cast<uint8_t>(Icmpv6Type::kEchoReply));
  wire::Put<&IcmpHeader::checksum>(
      reply, Icmpv6Checksum(ip.destination, ip.source, reply));
  std::vector<std::byte> packet = Packet(EtherType::kIpv6);
  wire::Append(Ipv6Header{.traffic_class = ip.traffic_class,
                          .flow_label = ip.flow_label,
                          .payload_bytes = ip.payload_bytes,
                          .next_header = IpProtocol::kIcmpv6,
                          .source = ip.destination,
                          .destination = ip.source},
               packet);
  packet.insert(packet.end(), reply.begin(), reply.end());
  return packet;
}

}  // namespace

Answer AnswerEcho(Bytes packet, std::span<const wire::IpNetwork> own) {
  constexpr size_t kEncapsulation = wire::kBytes<Encapsulation>;
  if (packet.size() < kEncapsulation) return std::nullopt;
  const Bytes payload = packet.subspan(kEncapsulation);
  switch (wire::Get<&Encapsulation::type>(packet)) {
    case EtherType::kIpv4:
      return AnswerIpv4(payload, own);
    case EtherType::kIpv6:
      return AnswerIpv6(payload, own);
    default:
      return std::nullopt;
  }
}

}  // namespace ibemu::ipoib
