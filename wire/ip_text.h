// The text of IP addresses, networks and GIDs.
#ifndef IBEMU_WIRE_IP_TEXT_H_
#define IBEMU_WIRE_IP_TEXT_H_

#include <arpa/inet.h>

#include <charconv>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/ip_address.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::wire {

// Returns the address, with the length of its network's prefix, in a text such
// as "10.1.0.1/16" or "fd00::1/64"; nothing if it is none.
inline std::optional<IpNetwork> ParseNetwork(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  const std::string address(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  IpNetwork network;
  IpAddress& ip = network.address;
  unsigned longest = 32;
  if (inet_pton(AF_INET, address.c_str(), ip.bytes.data() + 12) != 1) {
    longest = 128;
    ip.version = IpAddress::Version::kIpv6;
    if (inet_pton(AF_INET6, address.c_str(), ip.bytes.data()) != 1) {
      return std::nullopt;
    }
  }
  unsigned prefix = 0;
  const char* const end = digits.data() + digits.size();
  const auto [read, error] = std::from_chars(digits.data(), end, prefix);
  if (error != std::errc() || read != end || prefix > longest) {
    return std::nullopt;
  }
  network.prefix = static_cast<int>(prefix);
  return network;
}

// Returns why no port may have this address, as in "is a group's", or "".
inline std::string_view WhyNobodys(const IpNetwork& network) {
  const IpAddress& address = network.address;
  if (address.IsUnspecified()) return "is the address of nobody";
  if (address.IsLoopback()) return "leads back to each host itself";
  if (address.IsMulticast()) return "is a group's";
  if (address.is_ipv4() && network.prefix < 31) {
    const uint32_t hosts = ~uint32_t{0} >> network.prefix;
    const uint32_t host = address.ipv4() & hosts;
    if (host == 0) return "is that of the network itself";
    if (host == hosts) return "is for broadcasts";
  }
  return "";
}

// "198.18.0.1", "fd1b:e000:0:1::1"
inline std::string AddressText(const IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.is_ipv4()) {
    inet_ntop(AF_INET, address.bytes.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  return text;
}

// "fe80::2:c903:0:1"
inline std::string GidText(const Gid& gid) {
  IpAddress address;
  address.version = IpAddress::Version::kIpv6;
  Encode(gid, std::as_writable_bytes(std::span(address.bytes)));
  return AddressText(address);
}

// "198.18.0.1/16"
inline std::string NetworkText(const IpNetwork& network) {
  return AddressText(network.address) + "/" + std::to_string(network.prefix);
}
inline std::vector<std::string> NetworkTexts(
    std::span<const IpNetwork> networks) {
  std::vector<std::string> texts;
  for (const IpNetwork& network : networks) {
    texts.push_back(NetworkText(network));
  }
  return texts;
}

}  // namespace ibemu::wire

#endif  // IBEMU_WIRE_IP_TEXT_H_
