#include "hca/bus/pci_address.h"

#include <charconv>
#include <cstddef>
#include <optional>
#include <system_error>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::hca {
namespace {

// Removes a number of `least` to `most` hexadecimal digits, and the `end` that
// follows it, from the start of `text`.  An `end` of '\0' means that the number
// ends the text.  Returns none if there is no such number.
std::optional<uint32_t> TakeNumber(std::string_view& text, size_t least,
                                   size_t most, char end) {
  const size_t length =
      end == '\0' ? text.size() : text.find(end);  // npos: too long
  if (length < least || length > most) return std::nullopt;
  uint32_t value = 0;
  const auto [stop, error] =
      std::from_chars(text.data(), text.data() + length, value, 16);
  if (error != std::errc() || stop != text.data() + length) return std::nullopt;
  text.remove_prefix(end == '\0' ? length : length + 1);
  return value;
}

constexpr uint32_t kLastDevice = 0x1f;
constexpr uint32_t kLastFunction = 7;

std::optional<PciAddress> ParseFull(std::string_view text) {
  const auto domain = TakeNumber(text, 4, 8, ':');
  if (!domain) return std::nullopt;
  const auto bus = TakeNumber(text, 2, 2, ':');
  if (!bus) return std::nullopt;
  const auto device = TakeNumber(text, 2, 2, '.');
  if (!device || *device > kLastDevice) return std::nullopt;
  const auto function = TakeNumber(text, 1, 1, '\0');
  if (!function || *function > kLastFunction) return std::nullopt;
  return PciAddress{.domain = *domain,
                    .bus = static_cast<uint8_t>(*bus),
                    .device = static_cast<uint8_t>(*device),
                    .function = static_cast<uint8_t>(*function)};
}

}  // namespace

absl::StatusOr<PciAddress> PciAddress::Parse(std::string_view text) {
  const bool has_domain = text.find(':') != text.rfind(':');
  const std::string full =
      has_domain ? std::string(text) : absl::StrCat("0000:", Absl(text));
  if (const auto address = ParseFull(full)) return *address;
  return absl::InvalidArgumentError(absl::StrCat(
      "pci=", Absl(text),
      ": not the address of a PCI function: it looks like 0000:3b:00.0 "
      "(\"lspci -D\" prints them)"));
}

std::string PciAddress::Text() const {
  return absl::StrFormat("%04x:%02x:%02x.%x", domain, bus, device, function);
}

}  // namespace ibemu::hca
