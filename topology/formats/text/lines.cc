#include "topology/formats/text/lines.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::topology {
namespace {

constexpr std::string_view kSpace = " \t\r\f\v\n";

}  // namespace

std::string_view TrimSpace(std::string_view text) {
  const size_t begin = text.find_first_not_of(kSpace);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpace) + 1 - begin);
}

void ForEachLine(
    std::string_view text, int file, std::string_view name, Progress progress,
    absl::FunctionRef<void(Place at, std::string_view line)> read) {
  const std::string phase = absl::StrCat("reading ", Absl(name));
  const size_t step = std::max<size_t>(1 << 16, text.size() / 256);
  size_t next_report = 0;
  Place at{file, 0};
  for (size_t begin = 0; begin < text.size();) {
    if (begin >= next_report) {
      progress(phase, begin, text.size());
      next_report = begin + step;
    }
    const size_t end = std::min(text.find('\n', begin), text.size());
    ++at.line;
    const std::string_view line = text.substr(begin, end - begin);
    read(at, line.substr(0, line.find_last_not_of(kSpace) + 1));
    begin = end + 1;
  }
}

std::string_view CutBefore(std::string_view end, std::string_view& text) {
  const size_t at = text.find(end);
  const std::string_view part = text.substr(0, at);
  text = at == text.npos ? std::string_view() : text.substr(at + end.size());
  return part;
}

}  // namespace ibemu::topology
