// IpAddress: an IPv4 or IPv6 address.
#ifndef IBEMU_WIRE_IP_ADDRESS_H_
#define IBEMU_WIRE_IP_ADDRESS_H_

#include <algorithm>
#include <array>
#include <compare>
#include <cstdint>
#include <span>

namespace ibemu::wire {

// An IpAddress is an address of either version.  As in the IP header of the CM
// (IBA vol 1 annex A11), an IPv4 address is in the last four bytes, and the
// others are 0.
struct IpAddress {
  enum class Version : uint8_t { kIpv4 = 4, kIpv6 = 6 };

  Version version = Version::kIpv4;
  std::array<uint8_t, 16> bytes{};

  // NOLINTNEXTLINE(modernize-use-nullptr): of the 0 that it is compared with
  auto operator<=>(const IpAddress&) const = default;

  // Returns the address 198.18.0.1 for 0xc6120001.
  static constexpr IpAddress Ipv4(uint32_t address) {
    IpAddress ip;
    for (int i = 0; i < 4; ++i) {
      ip.bytes[12 + static_cast<size_t>(i)] =
          static_cast<uint8_t>(address >> (24 - 8 * i));
    }
    return ip;
  }
  static constexpr IpAddress Ipv6(const std::array<uint8_t, 16>& bytes) {
    return {Version::kIpv6, bytes};
  }

  constexpr bool is_ipv4() const { return version == Version::kIpv4; }
  constexpr uint32_t ipv4() const {
    return static_cast<uint32_t>(bytes[12]) << 24 |
           static_cast<uint32_t>(bytes[13]) << 16 |
           static_cast<uint32_t>(bytes[14]) << 8 | bytes[15];
  }

  // 0.0.0.0 or ::
  constexpr bool IsUnspecified() const {
    return std::all_of(bytes.begin(), bytes.end(),
                       [](uint8_t byte) { return byte == 0; });
  }
  // 127.0.0.0/8 or ::1
  constexpr bool IsLoopback() const {
    if (is_ipv4()) return bytes[12] == 127;
    return bytes[15] == 1 &&
           std::all_of(bytes.begin(), bytes.end() - 1,
                       [](uint8_t byte) { return byte == 0; });
  }
  // 224.0.0.0/4 or ff00::/8
  constexpr bool IsMulticast() const {
    return is_ipv4() ? bytes[12] >> 4 == 0xe : bytes[0] == 0xff;
  }
  // fe80::/10
  constexpr bool IsLinkLocal() const {
    return !is_ipv4() && bytes[0] == 0xfe && (bytes[1] & 0xc0) == 0x80;
  }
};

// A network: an address of which the first `prefix` bits count; for IPv4 those
// of its four bytes.
struct IpNetwork {
  IpAddress address;  // a host's own, not the lowest of the network
  int prefix = 0;

  bool operator==(const IpNetwork&) const = default;

  constexpr bool Contains(const IpAddress& other) const {
    if (other.version != address.version) return false;
    const int first = address.is_ipv4() ? 96 : 0;
    for (int bit = first; bit < first + prefix; ++bit) {
      const auto byte = static_cast<size_t>(bit / 8);
      const int mask = 0x80 >> (bit % 8);
      if (((address.bytes[byte] ^ other.bytes[byte]) & mask) != 0) return false;
    }
    return true;
  }
};

// Returns true if `address` is the host's own in one of its networks.
constexpr bool IsOwnAddress(const IpAddress& address,
                            std::span<const IpNetwork> networks) {
  return std::ranges::any_of(networks, [&address](const IpNetwork& network) {
    return network.address == address;
  });
}

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_IP_ADDRESS_H_
