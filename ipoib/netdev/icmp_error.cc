#include "ipoib/netdev/icmp_error.h"

#include <algorithm>

#include "ipoib/netdev/ip_packet.h"
#include "ipoib/wire/checksum.h"
#include "ipoib/wire/ip_headers.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;

// The most of the packet that goes back (RFC 1812 §4.3.2.3), which fits the
// least MTU of IPv6, too.
constexpr size_t kQuoted = 512;
constexpr uint8_t kFirstInformation = 128;  // of ICMPv6: below are errors

// No errors about errors: RFC 1122 §3.2.2, RFC 4443 §2.4.
bool MayAnswer(const IpPacket& packet) {
  if (packet.is_later_fragment || packet.source.IsUnspecified() ||
      packet.source.IsMulticast()) {
    return false;
  }
  if (packet.payload.empty()) return true;
  const auto type = std::to_integer<uint8_t>(packet.payload[0]);
  if (packet.source.is_ipv4()) {
    return IpProtocol{packet.protocol} != IpProtocol::kIcmp ||
           IcmpType{type} == IcmpType::kEchoRequest ||
           IcmpType{type} == IcmpType::kEchoReply;
  }
  return IpProtocol{packet.protocol} != IpProtocol::kIcmpv6 ||
         type >= kFirstInformation;
}

// Returns the message as far as the packet that it quotes.
std::vector<std::byte> MessageOf(IcmpError error, size_t mtu, bool is_ipv4,
                                 Bytes packet) {
  IcmpErrorHeader header;
  if (error == IcmpError::kHostUnreachable) {
    header.icmp.type = is_ipv4 ? static_cast<uint8_t>(IcmpType::kUnreachable)
                               : static_cast<uint8_t>(Icmpv6Type::kUnreachable);
    header.icmp.code = is_ipv4 ? kHostUnreachableCode : kAddressUnreachableCode;
  } else {
    header.icmp.type = is_ipv4
                           ? static_cast<uint8_t>(IcmpType::kUnreachable)
                           : static_cast<uint8_t>(Icmpv6Type::kPacketTooBig);
    header.icmp.code = is_ipv4 ? kFragmentationNeededCode : 0;
    header.mtu = static_cast<uint32_t>(mtu);
  }
  std::vector<std::byte> message;
  wire::Append(header, message);
  const Bytes quoted = packet.first(std::min(packet.size(), kQuoted));
  message.insert(message.end(), quoted.begin(), quoted.end());
  return message;
}

std::vector<std::byte> Ipv4Error(const IpPacket& to,
                                 std::vector<std::byte> message,
                                 const wire::IpAddress& from) {
  wire::Put<&IcmpHeader::checksum>(message, Checksum(message));
  std::vector<std::byte> packet;
  wire::Append(Ipv4Header{.total_bytes = static_cast<uint16_t>(
                              wire::kBytes<Ipv4Header> + message.size()),
                          .protocol = IpProtocol::kIcmp,
                          .source = from.ipv4(),
                          .destination = to.source.ipv4()},
               packet);
  wire::Put<&Ipv4Header::checksum>(packet, Checksum(packet));
  packet.insert(packet.end(), message.begin(), message.end());
  return packet;
}

std::vector<std::byte> Ipv6Error(const IpPacket& to,
                                 std::vector<std::byte> message,
                                 const wire::IpAddress& from) {
  wire::Put<&IcmpHeader::checksum>(
      message, Icmpv6Checksum(from.bytes, to.source.bytes, message));
  std::vector<std::byte> packet;
  wire::Append(
      Ipv6Header{.payload_bytes = static_cast<uint16_t>(message.size()),
                 .next_header = IpProtocol::kIcmpv6,
                 .source = from.bytes,
                 .destination = to.source.bytes},
      packet);
  packet.insert(packet.end(), message.begin(), message.end());
  return packet;
}

}  // namespace

std::optional<std::vector<std::byte>> MakeIcmpError(
    IcmpError error, size_t mtu, Bytes packet, const wire::IpAddress& from) {
  const auto parsed = ParseIpPacket(packet);
  if (!parsed || parsed->source.version != from.version ||
      !MayAnswer(*parsed)) {
    return std::nullopt;
  }
  std::vector<std::byte> message =
      MessageOf(error, mtu, from.is_ipv4(), packet);
  return from.is_ipv4() ? Ipv4Error(*parsed, std::move(message), from)
                        : Ipv6Error(*parsed, std::move(message), from);
}

}  // namespace ibemu::ipoib
