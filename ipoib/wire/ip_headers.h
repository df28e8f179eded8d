// The headers of IP packets (RFC 791, RFC 8200) and of echo messages (RFC 792,
// RFC 4443).
#ifndef IBEMU_IPOIB_WIRE_IP_HEADERS_H_
#define IBEMU_IPOIB_WIRE_IP_HEADERS_H_

#include <array>
#include <cstdint>

#include "wire/layout.h"

namespace ibemu::ipoib {

enum class IpProtocol : uint8_t { kIcmp = 1, kIcmpv6 = 58 };

using Ipv6Bytes = std::array<uint8_t, 16>;

// The header of an IPv4 packet (RFC 791 §3.1) without its options.  Addresses
// are numbers in host byte order.
struct Ipv4Header {
  static constexpr int kBits = 160;
  static constexpr uint8_t kWords = kBits / 32;  // without options

  uint8_t version = 4;
  uint8_t header_words = kWords;
  uint8_t type_of_service = 0;
  uint16_t total_bytes = 0;
  uint16_t identification = 0;
  uint8_t flags = 0;  // 2: don't fragment, 1: more fragments
  uint16_t fragment_offset = 0;
  uint8_t time_to_live = 64;
  IpProtocol protocol{};
  uint16_t checksum = 0;
  uint32_t source = 0, destination = 0;

  static constexpr auto Layout() {
    using T = Ipv4Header;
    using wire::Rw;
    return wire::Table(Rw(&T::version, "Version", 4, 0),
                       Rw(&T::header_words, "IHL", 4, 4),
                       Rw(&T::type_of_service, "TypeOfService", 8, 8),
                       Rw(&T::total_bytes, "TotalLength", 16, 16),
                       Rw(&T::identification, "Identification", 16, 32),
                       Rw(&T::flags, "Flags", 3, 48),
                       Rw(&T::fragment_offset, "FragmentOffset", 13, 51),
                       Rw(&T::time_to_live, "TimeToLive", 8, 64),
                       Rw(&T::protocol, "Protocol", 8, 72),
                       Rw(&T::checksum, "HeaderChecksum", 16, 80),
                       Rw(&T::source, "SourceAddress", 32, 96),
                       Rw(&T::destination, "DestinationAddress", 32, 128));
  }
};
static_assert(wire::Tiles<Ipv4Header>());

// The header of an IPv6 packet (RFC 8200 §3) without extension headers.
struct Ipv6Header {
  static constexpr int kBits = 320;

  uint8_t version = 6;
  uint8_t traffic_class = 0;
  uint32_t flow_label = 0;
  uint16_t payload_bytes = 0;
  IpProtocol next_header{};
  uint8_t hop_limit = 64;
  Ipv6Bytes source{}, destination{};

  static constexpr auto Layout() {
    using T = Ipv6Header;
    using wire::Rw;
    return wire::Table(Rw(&T::version, "Version", 4, 0),
                       Rw(&T::traffic_class, "TrafficClass", 8, 4),
                       Rw(&T::flow_label, "FlowLabel", 20, 12),
                       Rw(&T::payload_bytes, "PayloadLength", 16, 32),
                       Rw(&T::next_header, "NextHeader", 8, 48),
                       Rw(&T::hop_limit, "HopLimit", 8, 56),
                       Rw(&T::source, "SourceAddress", 128, 64),
                       Rw(&T::destination, "DestinationAddress", 128, 192));
  }
};
static_assert(wire::Tiles<Ipv6Header>());

// The types of ICMP messages that an interface sends or answers (RFC 792).
enum class IcmpType : uint8_t {
  kEchoReply = 0,
  kUnreachable = 3,
  kEchoRequest = 8,
};

// The same of ICMPv6 (RFC 4443), and those of neighbour discovery (RFC 4861).
enum class Icmpv6Type : uint8_t {
  kUnreachable = 1,
  kPacketTooBig = 2,
  kEchoRequest = 128,
  kEchoReply = 129,
  kNeighborSolicitation = 135,
  kNeighborAdvertisement = 136,
};

// Why something is unreachable: RFC 792, and for IPv6 RFC 4443 §3.1.
inline constexpr uint8_t kHostUnreachableCode = 1;
inline constexpr uint8_t kFragmentationNeededCode = 4;
inline constexpr uint8_t kAddressUnreachableCode = 3;

// The start of a message of either version.
struct IcmpHeader {
  static constexpr int kBits = 32;

  uint8_t type = 0;  // IcmpType or Icmpv6Type
  uint8_t code = 0;
  uint16_t checksum = 0;

  static constexpr auto Layout() {
    using T = IcmpHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::type, "Type", 8, 0), Rw(&T::code, "Code", 8, 8),
                       Rw(&T::checksum, "Checksum", 16, 16));
  }
};
static_assert(wire::Tiles<IcmpHeader>());

// An error, as far as the packet that it is about.
struct IcmpErrorHeader {
  static constexpr int kBits = 64;

  IcmpHeader icmp;
  uint32_t mtu =
      0;  // of a packet that was too big, for IPv4 16 bits (RFC 1191)

  static constexpr auto Layout() {
    using T = IcmpErrorHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::icmp, "ICMP", 32, 0), Rw(&T::mtu, "MTU", 32, 32));
  }
};
static_assert(wire::Tiles<IcmpErrorHeader>());

// An echo request or its reply, as far as the data.
struct EchoHeader {
  static constexpr int kBits = 64;

  IcmpHeader icmp;
  uint16_t identifier = 0, sequence = 0;

  static constexpr auto Layout() {
    using T = EchoHeader;
    using wire::Rw;
    return wire::Table(Rw(&T::icmp, "ICMP", 32, 0),
                       Rw(&T::identifier, "Identifier", 16, 32),
                       Rw(&T::sequence, "SequenceNumber", 16, 48));
  }
};
static_assert(wire::Tiles<EchoHeader>());

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_WIRE_IP_HEADERS_H_
