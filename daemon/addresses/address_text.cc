#include "daemon/addresses/address_text.h"

#include <arpa/inet.h>

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::daemon {

std::optional<wire::IpNetwork> ParseNetwork(std::string_view text) {
  const size_t slash = text.find('/');
  if (slash == text.npos) return std::nullopt;
  const std::string address(text.substr(0, slash));
  const std::string_view digits = text.substr(slash + 1);
  wire::IpNetwork network;
  wire::IpAddress& ip = network.address;
  int longest = 32;
  if (inet_pton(AF_INET, address.c_str(), ip.bytes.data() + 12) != 1) {
    longest = 128;
    ip.version = wire::IpAddress::Version::kIpv6;
    if (inet_pton(AF_INET6, address.c_str(), ip.bytes.data()) != 1) {
      return std::nullopt;
    }
  }
  const bool is_number =
      !digits.empty() && std::all_of(digits.begin(), digits.end(), [](char c) {
        return c >= '0' && c <= '9';
      });
  if (!is_number || !absl::SimpleAtoi(Absl(digits), &network.prefix) ||
      network.prefix > longest) {
    return std::nullopt;
  }
  return network;
}

std::string AddressText(const wire::IpAddress& address) {
  char text[INET6_ADDRSTRLEN] = "";
  if (address.is_ipv4()) {
    inet_ntop(AF_INET, address.bytes.data() + 12, text, sizeof text);
  } else {
    inet_ntop(AF_INET6, address.bytes.data(), text, sizeof text);
  }
  return text;
}

std::string NetworkText(const wire::IpNetwork& network) {
  return absl::StrCat(AddressText(network.address), "/", network.prefix);
}

}  // namespace ibemu::daemon
