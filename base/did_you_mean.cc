#include "base/did_you_mean.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"

namespace ibemu {
namespace {

constexpr size_t kLongest = 80;  // a longer name is no typing mistake

// Returns the optimal string alignment distance, or `limit` + 1 if it is
// larger.
size_t Distance(std::string_view a, std::string_view b, size_t limit) {
  using Row = std::array<uint8_t, kLongest + 1>;
  Row before_last{}, last{}, row{};
  for (size_t j = 0; j <= b.size(); ++j) last[j] = static_cast<uint8_t>(j);

  for (size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<uint8_t>(i);
    uint8_t smallest = row[0];
    for (size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == absl::ascii_tolower(b[j - 1]);
      int best =
          std::min({row[j - 1] + 1, last[j] + 1, last[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == absl::ascii_tolower(b[j - 2]) &&
          a[i - 2] == absl::ascii_tolower(b[j - 1])) {
        best = std::min(best, before_last[j - 2] + 1);
      }
      row[j] = static_cast<uint8_t>(best);
      smallest = std::min(smallest, row[j]);
    }
    if (smallest > limit) return limit + 1;
    before_last = std::exchange(last, row);
  }
  return last[b.size()];
}

}  // namespace

DidYouMean::DidYouMean(std::string_view wrong)
    : wrong_(absl::AsciiStrToLower(Absl(wrong))),
      limit_(std::max<size_t>(1, wrong.size() / 3)) {}

DidYouMean::DidYouMean(std::string_view wrong,
                       std::initializer_list<std::string_view> names)
    : DidYouMean(wrong) {
  for (std::string_view name : names) Offer(name);
}

void DidYouMean::Offer(std::string_view name) {
  if (wrong_.size() > kLongest || name.size() > kLongest) return;
  const size_t longer = std::max(wrong_.size(), name.size());
  if (longer - std::min(wrong_.size(), name.size()) > limit_) return;
  const size_t distance = Distance(wrong_, name, limit_);
  if (distance > limit_ || distance >= longer) return;
  best_ = name;
  limit_ = distance == 0 ? 0 : distance - 1;
}

std::string DidYouMean::Question() const {
  if (best_.empty()) return "";
  return absl::StrFormat(": did you mean \"%s\"?", best_);
}

}  // namespace ibemu
