#include "daemon/fault_words.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"

namespace ibemu::daemon {
namespace {

using fabric::LinkFaults;

constexpr absl::Duration kLongestDelay = absl::Minutes(1);

// A word and the chance that it sets.
struct ChanceWord {
  std::string_view word;
  double LinkFaults::*chance;
};
constexpr ChanceWord kChances[] = {{"loss", &LinkFaults::loss},
                                   {"corrupt", &LinkFaults::corrupt},
                                   {"duplicate", &LinkFaults::duplicate},
                                   {"reorder", &LinkFaults::reorder}};

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

// Reads the words one after the other.
class FaultParser {
 public:
  explicit FaultParser(std::span<const std::string> words) : words_(words) {}

  absl::StatusOr<FaultRequest> Parse() {
    IBEMU_RETURN_IF_ERROR(ReadPlace());
    while (!words_.empty()) IBEMU_RETURN_IF_ERROR(ReadClause(Take()));
    if (!goes_wrong_) {
      return Wrong(
          "nothing goes wrong: add loss, corrupt, duplicate, reorder or delay");
    }
    return request_;
  }

 private:
  std::string Take() {
    std::string word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  absl::Status ReadPlace() {
    if (words_.empty()) return Wrong("write where: link NODE/PORT");
    const std::string kind = Take();
    if (kind != "link") {
      return Wrong(absl::StrFormat(
          "\"%s\" is no place of a fault: write link NODE/PORT", kind));
    }
    if (words_.empty()) {
      return Wrong("\"link\" needs a port: write link NODE/PORT");
    }
    IBEMU_ASSIGN_OR_RETURN(request_.port, ParsePort(Take()));
    return absl::OkStatus();
  }

  absl::Status ReadClause(const std::string& word) {
    if (std::find(seen_.begin(), seen_.end(), word) != seen_.end()) {
      return Wrong(absl::StrFormat("\"%s\" is there twice", word));
    }
    seen_.push_back(word);
    for (const ChanceWord& chance : kChances) {
      if (word != chance.word) continue;
      goes_wrong_ = true;
      return ReadChance(word, request_.faults.*chance.chance);
    }
    if (word == "delay") {
      goes_wrong_ = true;
      return ReadDelay();
    }
    if (word == "dir") return ReadDirection();
    if (word == "seed") return ReadSeed();
    if (word == "attr") {
      return absl::UnimplementedError(
          "\"attr\" is not there yet: a fault concerns every packet");
    }
    DidYouMean guess(word, {"delay", "dir", "seed"});
    for (const ChanceWord& chance : kChances) guess.Offer(chance.word);
    return Wrong(
        absl::StrFormat("\"%s\" is no fault%s", word, guess.Question()));
  }

  absl::Status ReadChance(const std::string& word, double& chance) {
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

  absl::Status ReadDelay() {
    if (words_.empty()) {
      return Wrong("\"delay\" of how long: write a time, as in 10us or 2ms");
    }
    LinkFaults& faults = request_.faults;
    IBEMU_RETURN_IF_ERROR(ReadTime(faults.delay));
    // A word begins with a letter, a time does not.
    if (words_.empty() || words_.front().empty() ||
        absl::ascii_isalpha(static_cast<unsigned char>(words_.front()[0]))) {
      return absl::OkStatus();
    }
    IBEMU_RETURN_IF_ERROR(ReadTime(faults.jitter));
    if (faults.jitter > faults.delay) {
      return Wrong(
          absl::StrFormat("delay %s %s: the jitter is longer than the delay",
                          absl::FormatDuration(faults.delay),
                          absl::FormatDuration(faults.jitter)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadTime(absl::Duration& time) {
    const std::string text = Take();
    if (!absl::ParseDuration(text, &time)) {
      return Wrong(
          absl::StrFormat("delay %s: write a time, as in 10us or 2ms", text));
    }
    if (time < absl::ZeroDuration() || time > kLongestDelay) {
      return Wrong(absl::StrFormat("delay %s: a delay is from 0s to %s", text,
                                   absl::FormatDuration(kLongestDelay)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadDirection() {
    const std::string text = words_.empty() ? "" : Take();
    if (text != "tx" && text != "rx") {
      return Wrong(absl::StrFormat(
          "dir \"%s\": there are tx (what leaves through the port) and rx "
          "(what enters)%s",
          text, DidYouMean(text, {"tx", "rx"}).Question()));
    }
    request_.direction =
        text == "tx" ? FaultDirection::kTransmit : FaultDirection::kReceive;
    return absl::OkStatus();
  }

  absl::Status ReadSeed() {
    const std::string text = words_.empty() ? "" : Take();
    uint64_t seed = 0;
    if (!absl::SimpleAtoi(text, &seed)) {
      return Wrong(absl::StrFormat(
          "seed \"%s\": write a whole number below 2^64", text));
    }
    request_.seed = seed;
    return absl::OkStatus();
  }

  std::span<const std::string> words_;
  std::vector<std::string> seen_;
  bool goes_wrong_ = false;
  FaultRequest request_;
};

}  // namespace

absl::StatusOr<FaultRequest> ParseFault(const std::vector<std::string>& words) {
  return FaultParser(words).Parse();
}

std::string FaultText(const LinkFaults& faults) {
  std::vector<std::string> parts;
  for (const ChanceWord& chance : kChances) {
    const double value = faults.*chance.chance;
    if (value > 0) {
      parts.push_back(absl::StrFormat("%s %g%%", chance.word, 100 * value));
    }
  }
  if (faults.delay > absl::ZeroDuration()) {
    parts.push_back("delay " + absl::FormatDuration(faults.delay));
  }
  if (faults.jitter > absl::ZeroDuration()) {
    parts.push_back(absl::FormatDuration(faults.jitter));
  }
  return parts.empty() ? "loss 0%" : absl::StrJoin(parts, " ");
}

std::string_view DirectionName(FaultDirection direction) {
  switch (direction) {
    case FaultDirection::kBoth:
      return "both";
    case FaultDirection::kTransmit:
      return "tx";
    case FaultDirection::kReceive:
      return "rx";
  }
  return "unknown";
}

}  // namespace ibemu::daemon
