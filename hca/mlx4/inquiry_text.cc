#include "hca/mlx4/inquiry_text.h"

#include <string_view>
#include <type_traits>

#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "mad/wire/layout.h"

namespace ibemu::hca::mlx4 {
namespace {

template <wire::Structure T>
void AppendTable(std::string& text, std::string_view title, const T& table) {
  absl::StrAppendFormat(&text, "%s\n", Absl(title));
  wire::ForEach(table, [&text](std::string_view name, const auto& value) {
    const auto number = static_cast<uint64_t>(value);
    absl::StrAppendFormat(&text, "  %-26s %d (0x%x)\n", Absl(name), number,
                          number);
  });
}

}  // namespace

std::string InquiryText(const Firmware& firmware) {
  std::string text =
      absl::StrFormat("firmware %s\n", VersionText(firmware.fw()));
  AppendTable(text, "QUERY_FW", firmware.fw());
  AppendTable(text, "QUERY_DEV_CAP", firmware.caps());
  for (int number = 1; number <= firmware.caps().num_ports; ++number) {
    AppendTable(text, absl::StrFormat("QUERY_PORT %d", number),
                firmware.port(number));
  }
  return text;
}

}  // namespace ibemu::hca::mlx4
