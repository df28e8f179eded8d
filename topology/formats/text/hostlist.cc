#include "topology/formats/text/hostlist.h"

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu::topology {
namespace {

struct NumberedName {
  std::string_view prefix, digits;  // "node", "008"

  bool IsPadded() const { return digits.size() > 1 && digits[0] == '0'; }
};

NumberedName Split(std::string_view name) {
  constexpr size_t kMaxDigits = 18;
  const size_t last = name.find_last_not_of("0123456789");
  const size_t begin = last == name.npos ? 0 : last + 1;
  if (name.size() - begin > kMaxDigits) return {name, ""};
  return {name.substr(0, begin), name.substr(begin)};
}

std::string FormatRanges(const std::set<uint64_t>& numbers, int width) {
  std::string text;
  for (auto it = numbers.begin(); it != numbers.end();) {
    const uint64_t first = *it;
    uint64_t last = first;
    for (++it; it != numbers.end() && *it == last + 1; ++it) last = *it;
    if (!text.empty()) text += ',';
    absl::StrAppendFormat(&text, "%0*d", width, first);
    if (last != first) absl::StrAppendFormat(&text, "-%0*d", width, last);
  }
  return text;
}

}  // namespace

std::string FormatHostlist(const std::vector<std::string>& names) {
  // "08" and "10" form a range of two digits, "8" and "10" one without padding.
  std::set<std::pair<std::string_view, size_t>> padded;
  for (const std::string& name : names) {
    const NumberedName parts = Split(name);
    if (parts.IsPadded()) padded.insert({parts.prefix, parts.digits.size()});
  }
  // Width 0: numbers without leading zeros.  Width -1: no number at all.
  std::map<std::pair<std::string_view, int>, std::set<uint64_t>> groups;
  for (const std::string& name : names) {
    const NumberedName parts = Split(name);
    uint64_t number = 0;
    if (!absl::SimpleAtoi(Absl(parts.digits), &number)) {
      groups[{name, -1}];
      continue;
    }
    const size_t width = parts.digits.size();
    const bool is_padded = padded.contains({parts.prefix, width});
    groups[{parts.prefix, is_padded ? static_cast<int>(width) : 0}].insert(
        number);
  }
  std::string text;
  for (const auto& [key, numbers] : groups) {
    if (!text.empty()) text += ',';
    text += key.first;
    const std::string ranges = FormatRanges(numbers, key.second);
    text += numbers.size() > 1 ? absl::StrFormat("[%s]", ranges) : ranges;
  }
  return text;
}

}  // namespace ibemu::topology
