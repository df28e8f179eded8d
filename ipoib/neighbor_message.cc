#include "ipoib/neighbor_message.h"

#include <algorithm>

#include "ipoib/wire/arp.h"
#include "ipoib/wire/checksum.h"
#include "ipoib/wire/ip_headers.h"
#include "ipoib/wire/neighbor_discovery.h"

namespace ibemu::ipoib {
namespace {

using Bytes = std::span<const std::byte>;
using Kind = NeighborMessage::Kind;

constexpr size_t kEncapsulation = wire::kBytes<Encapsulation>;
constexpr uint8_t kHopLimit = 255;  // nobody forwards these

std::vector<std::byte> EncodeArp(const NeighborMessage& message) {
  const bool asks = message.kind == Kind::kRequest;
  std::vector<std::byte> packet;
  wire::Append(Encapsulation{.type = EtherType::kArp}, packet);
  wire::Append(
      ArpPacket{
          .operation = asks ? ArpOperation::kRequest : ArpOperation::kReply,
          .sender = message.sender_hardware,
          .sender_ip = message.sender.ipv4(),
          .target = asks ? HardwareAddress{} : message.target_hardware,
          .target_ip = message.target.ipv4()},
      packet);
  return packet;
}

std::optional<NeighborMessage> DecodeArp(Bytes bytes) {
  if (bytes.size() < wire::kBytes<ArpPacket>) return std::nullopt;
  const auto arp = wire::Decode<ArpPacket>(bytes);
  const bool sound = arp.hardware_type == ArpPacket::kInfiniband &&
                     arp.protocol == EtherType::kIpv4 &&
                     arp.hardware_bytes == wire::kBytes<HardwareAddress> &&
                     arp.protocol_bytes == 4 &&
                     (arp.operation == ArpOperation::kRequest ||
                      arp.operation == ArpOperation::kReply);
  if (!sound || arp.sender_ip == 0) return std::nullopt;
  const bool asks = arp.operation == ArpOperation::kRequest;
  return NeighborMessage{
      .kind = asks ? Kind::kRequest : Kind::kReply,
      .sender = wire::IpAddress::Ipv4(arp.sender_ip),
      .sender_hardware = arp.sender,
      .target = wire::IpAddress::Ipv4(arp.target_ip),
      .target_hardware = asks ? HardwareAddress{} : arp.target};
}

std::vector<std::byte> EncodeDiscovery(const NeighborMessage& message) {
  const bool asks = message.kind == Kind::kRequest;
  std::vector<std::byte> icmp;
  wire::Append(
      NeighborHeader{
          .icmp = {.type = static_cast<uint8_t>(
                       asks ? Icmpv6Type::kNeighborSolicitation
                            : Icmpv6Type::kNeighborAdvertisement)},
          .solicited = !asks,
          .overrides = !asks,
          .target = asks ? message.target.bytes : message.sender.bytes},
      icmp);
  wire::Append(
      LinkLayerOption{.type = asks ? NeighborOption::kSourceLinkLayerAddress
                                   : NeighborOption::kTargetLinkLayerAddress,
                      .address = message.sender_hardware},
      icmp);
  const Ipv6Header ip{
      .payload_bytes = static_cast<uint16_t>(icmp.size()),
      .next_header = IpProtocol::kIcmpv6,
      .hop_limit = kHopLimit,
      .source = message.sender.bytes,
      .destination = asks ? SolicitedNodeAddress(message.target).bytes
                          : message.target.bytes};
  wire::Put<&IcmpHeader::checksum>(
      icmp, Icmpv6Checksum(ip.source, ip.destination, icmp));
  std::vector<std::byte> packet;
  wire::Append(Encapsulation{.type = EtherType::kIpv6}, packet);
  wire::Append(ip, packet);
  packet.insert(packet.end(), icmp.begin(), icmp.end());
  return packet;
}

// Returns the hardware address in the options after a message, if they are
// sound.
std::optional<HardwareAddress> FindOption(NeighborOption wanted,
                                          Bytes options) {
  constexpr size_t kUnit = 8;  // bytes, in which lengths count
  std::optional<HardwareAddress> found;
  while (!options.empty()) {
    if (options.size() < kUnit) return std::nullopt;
    const auto type = NeighborOption{std::to_integer<uint8_t>(options[0])};
    const size_t bytes = std::to_integer<size_t>(options[1]) * kUnit;
    if (bytes == 0 || bytes > options.size()) return std::nullopt;
    if (type == wanted && bytes == wire::kBytes<LinkLayerOption>) {
      found = wire::Decode<LinkLayerOption>(options).address;
    }
    options = options.subspan(bytes);
  }
  return found;
}

std::optional<NeighborMessage> DecodeDiscovery(Bytes bytes) {
  if (bytes.size() < wire::kBytes<Ipv6Header> + wire::kBytes<NeighborHeader>) {
    return std::nullopt;
  }
  const auto ip = wire::Decode<Ipv6Header>(bytes);
  bytes = bytes.subspan(wire::kBytes<Ipv6Header>);
  if (ip.version != 6 || ip.next_header != IpProtocol::kIcmpv6 ||
      ip.hop_limit != kHopLimit || ip.payload_bytes > bytes.size() ||
      ip.payload_bytes < wire::kBytes<NeighborHeader>) {
    return std::nullopt;
  }
  bytes = bytes.first(ip.payload_bytes);
  if (Icmpv6Checksum(ip.source, ip.destination, bytes) != 0) {
    return std::nullopt;
  }
  const auto header = wire::Decode<NeighborHeader>(bytes);
  const auto type = Icmpv6Type{header.icmp.type};
  const bool asks = type == Icmpv6Type::kNeighborSolicitation;
  if ((!asks && type != Icmpv6Type::kNeighborAdvertisement) ||
      header.icmp.code != 0) {
    return std::nullopt;
  }
  const auto source = wire::IpAddress::Ipv6(ip.source);
  const auto target = wire::IpAddress::Ipv6(header.target);
  if (source.IsUnspecified() || source.IsMulticast() ||
      target.IsUnspecified() || target.IsMulticast()) {
    return std::nullopt;
  }
  const auto hardware =
      FindOption(asks ? NeighborOption::kSourceLinkLayerAddress
                      : NeighborOption::kTargetLinkLayerAddress,
                 bytes.subspan(wire::kBytes<NeighborHeader>));
  if (!hardware) return std::nullopt;
  return NeighborMessage{
      .kind = asks ? Kind::kRequest : Kind::kReply,
      .sender = asks ? source : target,
      .sender_hardware = *hardware,
      .target = asks ? target : wire::IpAddress::Ipv6(ip.destination)};
}

}  // namespace

std::vector<std::byte> EncodeNeighborMessage(const NeighborMessage& message) {
  return message.sender.is_ipv4() ? EncodeArp(message)
                                  : EncodeDiscovery(message);
}

std::optional<NeighborMessage> DecodeNeighborMessage(Bytes packet) {
  if (packet.size() < kEncapsulation) return std::nullopt;
  const Bytes payload = packet.subspan(kEncapsulation);
  switch (wire::Get<&Encapsulation::type>(packet)) {
    case EtherType::kArp:
      return DecodeArp(payload);
    case EtherType::kIpv6:
      return DecodeDiscovery(payload);
    default:
      return std::nullopt;
  }
}

wire::IpAddress SolicitedNodeAddress(const wire::IpAddress& target) {
  wire::IpAddress group =
      wire::IpAddress::Ipv6({0xff, 0x02, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff});
  std::copy(target.bytes.end() - 3, target.bytes.end(), group.bytes.end() - 3);
  return group;
}

}  // namespace ibemu::ipoib
