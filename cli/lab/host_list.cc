#include "cli/lab/host_list.h"

#include <cstdint>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"

namespace ibemu::cli {
namespace {

// Longer ones would not fit into 32 bits.
constexpr size_t kMaxDigits = 9;

absl::Status Wrong(std::string_view text) {
  return absl::InvalidArgumentError(absl::StrFormat(
      "\"%s\": a list of hosts is written as in \"node-[1-4,7]\"", text));
}

bool ParseDigits(const std::string& text, uint32_t& number) {
  return text.size() <= kMaxDigits &&
         text.find_first_not_of("0123456789") == std::string::npos &&
         absl::SimpleAtoi(text, &number);
}

}  // namespace

absl::StatusOr<std::vector<std::string>> ExpandHostList(std::string_view text,
                                                        size_t most) {
  const size_t open = text.find('['), close = text.find(']');
  if (open == text.npos && close == text.npos) {
    return std::vector<std::string>{std::string(text)};
  }
  if (open == text.npos || close == text.npos || close < open ||
      text.find_first_of("[]", close + 1) != text.npos ||
      text.find('[', open + 1) != text.npos) {
    return Wrong(text);
  }
  const std::string_view before = text.substr(0, open);
  const std::string_view after = text.substr(close + 1);
  const std::string_view inside = text.substr(open + 1, close - open - 1);
  std::vector<std::string> names;
  for (const auto& part : absl::StrSplit(Absl(inside), ',')) {
    const std::pair<std::string, std::string> ends =
        absl::StrSplit(part, absl::MaxSplits('-', 1));
    const bool is_range = part.find('-') != part.npos;
    uint32_t first = 0, last = 0;
    if (!ParseDigits(ends.first, first) ||
        !ParseDigits(is_range ? ends.second : ends.first, last) ||
        last < first) {
      return Wrong(text);
    }
    for (uint64_t number = first; number <= last; ++number) {
      if (names.size() == most) {
        return absl::InvalidArgumentError(
            absl::StrFormat("\"%s\" is more than %d hosts", text, most));
      }
      names.push_back(absl::StrFormat("%s%0*d%s", before,
                                      static_cast<int>(ends.first.size()),
                                      number, after));
    }
  }
  return names;
}

}  // namespace ibemu::cli
