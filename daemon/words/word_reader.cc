#include "daemon/words/word_reader.h"

#include <algorithm>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/strip.h"
#include "base/absl_text.h"
#include "base/status_macros.h"

namespace ibemu::daemon {
namespace {

constexpr absl::Duration kLongestDelay = absl::Minutes(1);
constexpr uint64_t kNoEnd = std::numeric_limits<uint64_t>::max();

}  // namespace

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

std::string WordReader::Take() {
  if (words_.empty()) return "";
  std::string word = words_.front();
  words_ = words_.subspan(1);
  return word;
}

bool WordReader::TakeIf(std::string_view word) {
  if (words_.empty() || words_.front() != word) return false;
  words_ = words_.subspan(1);
  return true;
}

absl::Status WordReader::Begin(const std::string& word) {
  if (Saw(word)) return Wrong(absl::StrFormat("\"%s\" is there twice", word));
  seen_.push_back(word);
  return absl::OkStatus();
}

bool WordReader::Saw(std::string_view word) const {
  return std::find(seen_.begin(), seen_.end(), word) != seen_.end();
}

bool WordReader::TimeFollows() const {
  return !words_.empty() && !words_.front().empty() &&
         !absl::ascii_isalpha(static_cast<unsigned char>(words_.front()[0]));
}

bool WordReader::PercentageFollows() const {
  return !words_.empty() && absl::EndsWith(words_.front(), "%");
}

absl::Status WordReader::ReadChance(const std::string& word, double& chance) {
  constexpr std::string_view kRule = "write a percentage, as in 5% or 0.1%";
  if (words_.empty()) {
    return Wrong(absl::StrFormat("\"%s\" of how many: %s", word, kRule));
  }
  const std::string text = Take();
  double percent = 0;
  if (!absl::EndsWith(text, "%") ||
      !absl::SimpleAtod(absl::StripSuffix(text, "%"), &percent)) {
    return Wrong(absl::StrFormat("%s %s: %s", word, text, kRule));
  }
  if (!(percent >= 0 && percent <= 100)) {  // true for NaN
    return Wrong(absl::StrFormat("%s %s: a percentage is from 0%% to 100%%",
                                 word, text));
  }
  chance = percent / 100;
  return absl::OkStatus();
}

absl::Status WordReader::ReadDelay(const std::string& word,
                                   absl::Duration& delay,
                                   absl::Duration& jitter) {
  if (words_.empty()) {
    return Wrong(absl::StrFormat(
        "\"%s\" of how long: write a time, as in 10us or 2ms", word));
  }
  IBEMU_RETURN_IF_ERROR(ReadDelayTime(word, delay));
  if (!TimeFollows()) return absl::OkStatus();
  IBEMU_RETURN_IF_ERROR(ReadDelayTime(word, jitter));
  if (jitter > delay) {
    return Wrong(absl::StrFormat(
        "%s %s %s: the jitter is longer than the delay", word,
        absl::FormatDuration(delay), absl::FormatDuration(jitter)));
  }
  return absl::OkStatus();
}

absl::Status WordReader::ReadDelayTime(const std::string& word,
                                       absl::Duration& time) {
  const std::string text = Take();
  IBEMU_RETURN_IF_ERROR(ParseTime(word, text, time));
  if (time < absl::ZeroDuration() || time > kLongestDelay) {
    return Wrong(absl::StrFormat("%s %s: a delay is from 0s to %s", word, text,
                                 absl::FormatDuration(kLongestDelay)));
  }
  return absl::OkStatus();
}

absl::Status WordReader::ReadSeed(std::optional<uint64_t>& seed) {
  const std::string text = Take();
  uint64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) {
    return Wrong(
        absl::StrFormat("seed \"%s\": write a whole number below 2^64", text));
  }
  seed = number;
  return absl::OkStatus();
}

absl::Status WordReader::ReadWindow(uint64_t& first, uint64_t& last) {
  const std::string text = Take();
  const size_t dash = text.find('-');
  const std::string begin = text.substr(0, dash);
  const std::string end = dash == text.npos ? begin : text.substr(dash + 1);
  const bool good = absl::SimpleAtoi(begin, &first) && first >= 1;
  last = kNoEnd;
  if (!good || (!end.empty() && !absl::SimpleAtoi(end, &last)) ||
      last < first) {
    return Wrong(absl::StrFormat(
        "nth \"%s\": write which, counted from 1, as in 3, 3-5 or 3-", text));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> WordReader::ReadNumber(const std::string& word,
                                                uint32_t least, uint32_t most) {
  const std::string text = Take();
  const std::optional<uint32_t> number = ParseNumber(text);
  if (!number || *number < least || *number > most) {
    return Wrong(absl::StrFormat("%s \"%s\": write a number from %d to 0x%x",
                                 word, text, least, most));
  }
  return *number;
}

absl::Status ParseTime(const std::string& word, const std::string& text,
                       absl::Duration& time) {
  if (absl::ParseDuration(text, &time)) return absl::OkStatus();
  return Wrong(
      absl::StrFormat("%s %s: write a time, as in 10us or 2ms", word, text));
}

std::optional<uint32_t> ParseNumber(std::string_view text) {
  uint32_t number = 0;
  const bool hexadecimal = absl::StartsWithIgnoreCase(Absl(text), "0x");
  const bool good = hexadecimal ? absl::SimpleHexAtoi(Absl(text), &number)
                                : absl::SimpleAtoi(Absl(text), &number);
  return good ? std::optional(number) : std::nullopt;
}

std::string WindowText(uint64_t first, uint64_t last) {
  if (last == kNoEnd) return first == 1 ? "" : absl::StrCat("nth ", first, "-");
  return first == last ? absl::StrCat("nth ", first)
                       : absl::StrCat("nth ", first, "-", last);
}

}  // namespace ibemu::daemon
