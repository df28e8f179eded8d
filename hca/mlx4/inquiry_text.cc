#include "hca/mlx4/inquiry_text.h"

#include <string_view>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "wire/layout.h"

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

// Returns the command and its input modifier, such as "QUERY_PORT 1".
std::string Title(const FirmwareAnswer& answer) {
  std::string title(prm::Name(answer.opcode));
  if (answer.in_modifier != 0) absl::StrAppend(&title, " ", answer.in_modifier);
  return title;
}

}  // namespace

std::string AnswerText(const FirmwareAnswer& answer) {
  std::string text;
  const std::string title = Title(answer);
  switch (answer.opcode) {
    case prm::Opcode::kQueryFw: {
      const auto fw = wire::Decode<prm::QueryFw>(answer.mailbox);
      absl::StrAppend(&text, "firmware ", VersionText(fw), "\n");
      AppendTable(text, title, fw);
      break;
    }
    case prm::Opcode::kQueryAdapter: {
      const auto adapter = wire::Decode<prm::QueryAdapter>(answer.mailbox);
      absl::StrAppend(&text, "board ", BoardId(adapter), "\n");
      break;
    }
    case prm::Opcode::kQueryPort:
      AppendTable(text, title, wire::Decode<prm::QueryPort>(answer.mailbox));
      break;
    case prm::Opcode::kQueryDevCap:
      AppendTable(text, title, wire::Decode<prm::QueryDevCap>(answer.mailbox));
      break;
    default:
      break;
  }
  return text;
}

std::string AnswerDump(const FirmwareAnswer& answer) {
  constexpr size_t kInLine = 16;
  std::string text = Title(answer) + "\n";
  for (size_t at = 0; at < answer.mailbox.size(); ++at) {
    if (at % kInLine == 0) absl::StrAppendFormat(&text, "  %03x:", at);
    absl::StrAppendFormat(&text, " %02x",
                          std::to_integer<int>(answer.mailbox[at]));
    if (at % kInLine == kInLine - 1) text += "\n";
  }
  return text;
}

}  // namespace ibemu::hca::mlx4
