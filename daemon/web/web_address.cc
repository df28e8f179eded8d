#include "daemon/web/web_address.h"

#include <charconv>
#include <system_error>

#include "absl/strings/str_cat.h"

namespace ibemu::daemon {
namespace {

constexpr std::string_view kIpv6 = "::1";

// Returns the text before the last colon that is no part of an IPv6 address.
std::string_view HostOf(std::string_view text) {
  if (text.starts_with("[")) return text.substr(0, text.find(']') + 1);
  return text.substr(0, text.rfind(':'));
}

}  // namespace

std::string WebAddress::Text() const {
  return host == kIpv6 ? absl::StrCat("[", host, "]:", port)
                       : absl::StrCat(host, ":", port);
}

absl::StatusOr<WebAddress> WebAddress::Parse(std::string_view text) {
  const std::string_view host = HostOf(text);
  const std::string_view port = text.substr(host.size());
  uint16_t number = 0;
  const char* const end = port.data() + port.size();
  const bool has_port = port.size() > 1 && port.front() == ':';
  if (const auto read =
          std::from_chars(port.data() + (has_port ? 1 : 0), end, number);
      !has_port || read.ec != std::errc() || read.ptr != end) {
    return absl::InvalidArgumentError(
        absl::StrCat(std::string(text),
                     ": not an address and a port, as in 127.0.0.1:8080"));
  }
  if (host == "[::1]") {
    return WebAddress{.host = std::string(kIpv6), .port = number};
  }
  if (host == "127.0.0.1" || host == "localhost") {
    return WebAddress{.host = "127.0.0.1", .port = number};
  }
  return absl::InvalidArgumentError(absl::StrCat(
      std::string(text), ": only this machine may ask: use 127.0.0.1:", number,
      ", and a tunnel from elsewhere"));
}

bool IsThisMachine(std::string_view host) {
  const std::string_view name = HostOf(host);
  const std::string_view rest = host.substr(name.size());
  if (!rest.empty() && rest.front() != ':') return false;
  return name == "127.0.0.1" || name == "localhost" || name == "[::1]";
}

}  // namespace ibemu::daemon
