#include "topology/formats/text/ibdm_arrow.h"

#include <algorithm>
#include <initializer_list>
#include <string>

#include "absl/strings/str_format.h"
#include "topology/formats/text/lane_speed.h"
#include "topology/formats/text/lines.h"
#include "topology/rate_text.h"

namespace ibemu::topology {
namespace {

void CopySpeed(const LinkRate& from, LinkRate& to) {
  const uint8_t width = to.width;
  to = from;
  to.width = width;
}

}  // namespace

ArrowRate ArrowRate::Within(const ArrowRate& outer) const {
  ArrowRate both = *this;
  if (!HasWidth()) both.rate.width = outer.rate.width;
  if (!HasSpeed()) CopySpeed(outer.rate, both.rate);
  return both;
}

// The intersection is never empty, as every width includes 1x, and every speed
// includes SDR.
LinkRate RateOfCable(std::initializer_list<ArrowRate> parts) {
  ArrowRate all;
  for (const ArrowRate& part : parts) {
    const LinkRate known = all.Within(part).rate;
    const LinkRate more = part.Within(all).rate;
    all.rate.width = known.width & more.width;
    all.rate.speed = known.speed & more.speed;
    all.rate.speed_ext = known.speed_ext & more.speed_ext;
    all.rate.speed_ext2 = known.speed_ext2 & more.speed_ext2;
    all.rate.fdr10 = known.fdr10 && more.fdr10;
  }
  if (!all.HasWidth()) all.rate.width = ParseLinkWidth("4x");
  if (!all.HasSpeed()) ParseLaneSpeed("2.5", all.rate);
  return all.rate;
}

bool HasArrow(std::string_view line) { return line.find("->") != line.npos; }

std::vector<std::string_view> SplitWords(std::string_view line,
                                         std::string_view separators) {
  const std::string ends = std::string(" \t\r\f\v\n") + std::string(separators);
  std::vector<std::string_view> words;
  for (size_t begin = line.find_first_not_of(ends); begin != line.npos;) {
    const size_t end = std::min(line.find_first_of(ends, begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    begin = line.find_first_not_of(ends, end);
  }
  return words;
}

absl::StatusOr<Arrow> ParseArrow(std::string_view line) {
  std::string_view right = line;
  std::string_view left = TrimSpace(CutBefore("->", right));
  Arrow arrow;
  arrow.port = left.substr(0, left.find_first_of(" \t"));
  arrow.words = SplitWords(right);
  if (arrow.port.empty() || arrow.words.empty()) {
    return absl::InvalidArgumentError(
        "an arrow leads from a port to somewhere, as in P1 -4x-5G-> U2 8");
  }
  for (const std::string_view word :
       SplitWords(left.substr(arrow.port.size()), "-")) {
    const bool is_speed = word.ends_with('G') || word.ends_with('g');
    const bool is_right =
        is_speed
            ? ParseLaneSpeed(word.substr(0, word.size() - 1), arrow.rate.rate)
            : (arrow.rate.rate.width = ParseLinkWidth(word)) != 0;
    if (!is_right) {
      return absl::InvalidArgumentError(absl::StrFormat(
          "\"%s\" is neither a width from 1x to 12x nor one of %s with a G",
          word, kLaneSpeeds));
    }
  }
  return arrow;
}

}  // namespace ibemu::topology
