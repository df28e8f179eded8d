#include "daemon/words/fault_words.h"

#include <algorithm>
#include <span>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"

namespace ibemu::daemon {
namespace {

using fabric::LinkFaults;

using Place = FaultRequest::Place;

constexpr absl::Duration kLongestDelay = absl::Minutes(1);
constexpr absl::Duration kShortestFlap = absl::Milliseconds(1);
constexpr absl::Duration kLongestFlap = absl::Hours(24);
constexpr double kWorstBer = 0.01;  // no packet would pass with more

// A word and the chance that it sets.
struct ChanceWord {
  std::string_view word;
  double LinkFaults::*chance;
  bool of_node;  // may also be a fault of an agent's answers
};
constexpr ChanceWord kChances[] = {{"loss", &LinkFaults::loss, true},
                                   {"corrupt", &LinkFaults::corrupt, false},
                                   {"duplicate", &LinkFaults::duplicate, false},
                                   {"reorder", &LinkFaults::reorder, false}};

absl::Status Wrong(std::string_view what) {
  return absl::InvalidArgumentError(std::string(what));
}

// A FaultParser reads the words one after the other.
class FaultParser {
 public:
  explicit FaultParser(std::span<const std::string> words) : words_(words) {}

  absl::StatusOr<FaultRequest> Parse() {
    IBEMU_RETURN_IF_ERROR(ReadPlace());
    while (!words_.empty()) IBEMU_RETURN_IF_ERROR(ReadClause(Take()));
    if (!goes_wrong_) {
      return Wrong(AtNode() ? "nothing goes wrong: add slow or loss"
                            : "nothing goes wrong: add loss, corrupt, ber, "
                              "duplicate, reorder, delay or flap");
    }
    if (!HasPacketFaults(request_) && (Saw("dir") || Saw("attr"))) {
      return Wrong(
          "a flap concerns every packet of both directions: leave out dir and "
          "attr");
    }
    return request_;
  }

 private:
  std::string Take() {
    std::string word = words_.front();
    words_ = words_.subspan(1);
    return word;
  }

  bool AtNode() const { return request_.place == Place::kNode; }

  bool Saw(std::string_view word) const {
    return std::find(seen_.begin(), seen_.end(), word) != seen_.end();
  }

  absl::Status ReadPlace() {
    if (words_.empty())
      return Wrong("write where: link NODE/PORT or node NODE");
    const std::string kind = Take();
    if (kind == "node") {
      request_.place = Place::kNode;
      if (words_.empty()) return Wrong("\"node\" needs one: write node NODE");
      request_.port.node = Take();
      return absl::OkStatus();
    }
    if (kind != "link") {
      return Wrong(
          absl::StrFormat("\"%s\" is no place of a fault: write link "
                          "NODE/PORT or node NODE",
                          kind));
    }
    if (words_.empty()) {
      return Wrong("\"link\" needs a port: write link NODE/PORT");
    }
    IBEMU_ASSIGN_OR_RETURN(request_.port, ParsePort(Take()));
    return absl::OkStatus();
  }

  absl::Status ReadClause(const std::string& word) {
    if (Saw(word)) return Wrong(absl::StrFormat("\"%s\" is there twice", word));
    seen_.push_back(word);
    for (const ChanceWord& chance : kChances) {
      if (word != chance.word || (AtNode() && !chance.of_node)) continue;
      goes_wrong_ = true;
      return ReadChance(word, request_.faults.*chance.chance);
    }
    if (word == "attr") return ReadFilter();
    if (word == "seed") return ReadSeed();
    if (word == (AtNode() ? "slow" : "delay")) {
      goes_wrong_ = true;
      return ReadDelay(word);
    }
    if (!AtNode() && word == "dir") return ReadDirection();
    if (!AtNode() && word == "ber") {
      goes_wrong_ = true;
      return ReadBer();
    }
    if (!AtNode() && word == "flap") {
      goes_wrong_ = true;
      return ReadFlap();
    }
    return NoSuchWord(word);
  }

  absl::Status NoSuchWord(const std::string& word) const {
    DidYouMean guess(word, {"attr", "seed"});
    if (AtNode()) {
      guess.Offer("slow");
      guess.Offer("loss");
      return Wrong(absl::StrFormat(
          "\"%s\" is no fault of a node, which is slow or loses answers%s",
          word, guess.Question()));
    }
    for (const ChanceWord& chance : kChances) guess.Offer(chance.word);
    for (const char* known : {"delay", "ber", "flap", "dir"}) {
      guess.Offer(known);
    }
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

  absl::Status ReadBer() {
    const std::string text = words_.empty() ? "" : Take();
    double& ber = request_.faults.ber;
    if (!absl::SimpleAtod(text, &ber)) {
      return Wrong(absl::StrFormat(
          "ber \"%s\": write how many of the bits are wrong, as in 1e-12",
          text));
    }
    if (!(ber >= 0 && ber <= kWorstBer)) {  // true for NaN
      return Wrong(absl::StrFormat("ber %s: a bit error rate is from 0 to %g",
                                   text, kWorstBer));
    }
    return absl::OkStatus();
  }

  // A word begins with a letter, a time does not.
  bool TimeFollows() const {
    return !words_.empty() && !words_.front().empty() &&
           !absl::ascii_isalpha(static_cast<unsigned char>(words_.front()[0]));
  }

  absl::Status ReadDelay(const std::string& word) {
    if (words_.empty()) {
      return Wrong(absl::StrFormat(
          "\"%s\" of how long: write a time, as in 10us or 2ms", word));
    }
    LinkFaults& faults = request_.faults;
    IBEMU_RETURN_IF_ERROR(ReadDelayTime(word, faults.delay));
    if (!TimeFollows()) return absl::OkStatus();
    IBEMU_RETURN_IF_ERROR(ReadDelayTime(word, faults.jitter));
    if (faults.jitter > faults.delay) {
      return Wrong(
          absl::StrFormat("%s %s %s: the jitter is longer than the delay", word,
                          absl::FormatDuration(faults.delay),
                          absl::FormatDuration(faults.jitter)));
    }
    return absl::OkStatus();
  }

  absl::Status ReadDelayTime(const std::string& word, absl::Duration& time) {
    const std::string text = Take();
    IBEMU_RETURN_IF_ERROR(ReadTime(word, text, time));
    if (time < absl::ZeroDuration() || time > kLongestDelay) {
      return Wrong(absl::StrFormat("%s %s: a delay is from 0s to %s", word,
                                   text, absl::FormatDuration(kLongestDelay)));
    }
    return absl::OkStatus();
  }

  static absl::Status ReadTime(const std::string& word, const std::string& text,
                               absl::Duration& time) {
    if (absl::ParseDuration(text, &time)) return absl::OkStatus();
    return Wrong(
        absl::StrFormat("%s %s: write a time, as in 10us or 2ms", word, text));
  }

  absl::Status ReadFlap() {
    std::vector<absl::Duration> times;
    while (times.size() < 3 && TimeFollows()) {
      const std::string text = Take();
      absl::Duration time;
      IBEMU_RETURN_IF_ERROR(ReadTime("flap", text, time));
      const bool jitter = times.size() == 2;
      if (time < (jitter ? absl::ZeroDuration() : kShortestFlap) ||
          time > kLongestFlap) {
        return Wrong(
            absl::StrFormat("flap %s: a time is from 1ms to 24h", text));
      }
      times.push_back(time);
    }
    if (times.size() < 2) {
      return Wrong(
          "\"flap\" needs its period and how long the link is down, as in flap "
          "2s 100ms");
    }
    const fabric::FlapPlan plan{
        .period = times[0],
        .down = times[1],
        .jitter = times.size() == 3 ? times[2] : absl::ZeroDuration()};
    if (plan.down + 2 * plan.jitter >= plan.period) {
      return Wrong(absl::StrFormat(
          "flap %s %s: it must be down for less than the period, less twice "
          "the jitter",
          absl::FormatDuration(plan.period), absl::FormatDuration(plan.down)));
    }
    request_.flap = plan;
    return absl::OkStatus();
  }

  absl::Status ReadFilter() {
    const std::string text = words_.empty() ? "" : Take();
    IBEMU_ASSIGN_OR_RETURN(request_.faults.concerns,
                           fabric::ParsePacketFilter(text));
    if (AtNode() &&
        request_.faults.concerns.kind == fabric::PacketFilter::Kind::kVerbs) {
      return Wrong("attr verbs: a node's agents answer MADs alone");
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

bool HasPacketFaults(const FaultRequest& request) {
  LinkFaults none;
  none.concerns = request.faults.concerns;
  return !request.flap || request.faults != none;
}

std::string FaultText(const FaultRequest& request) {
  const LinkFaults& faults = request.faults;
  std::vector<std::string> parts;
  for (const ChanceWord& chance : kChances) {
    const double value = faults.*chance.chance;
    if (value > 0) {
      parts.push_back(absl::StrFormat("%s %g%%", chance.word, 100 * value));
    }
  }
  if (faults.ber > 0) parts.push_back(absl::StrFormat("ber %g", faults.ber));
  if (faults.delay > absl::ZeroDuration()) {
    parts.push_back(
        absl::StrCat(request.place == Place::kNode ? "slow " : "delay ",
                     absl::FormatDuration(faults.delay)));
  }
  if (faults.jitter > absl::ZeroDuration()) {
    parts.push_back(absl::FormatDuration(faults.jitter));
  }
  if (request.flap) {
    parts.push_back(
        absl::StrCat("flap ", absl::FormatDuration(request.flap->period), " ",
                     absl::FormatDuration(request.flap->down)));
    if (request.flap->jitter > absl::ZeroDuration()) {
      parts.push_back(absl::FormatDuration(request.flap->jitter));
    }
  }
  if (parts.empty()) parts.emplace_back("loss 0%");
  const std::string_view concerned = fabric::NameOf(faults.concerns);
  if (!concerned.empty())
    parts.push_back(absl::StrCat("attr ", Absl(concerned)));
  return absl::StrJoin(parts, " ");
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
