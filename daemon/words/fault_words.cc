#include "daemon/words/fault_words.h"

#include <span>
#include <string_view>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/words/host_fault_words.h"
#include "daemon/words/packet_effects.h"
#include "daemon/words/process_fault_words.h"
#include "daemon/words/queue_pair_fault_words.h"
#include "daemon/words/word_reader.h"

namespace ibemu::daemon {
namespace {

using fabric::LinkFaults;

using Place = FaultRequest::Place;

constexpr absl::Duration kShortestFlap = absl::Milliseconds(1);
constexpr absl::Duration kLongestFlap = absl::Hours(24);
constexpr double kWorstBer = 0.01;  // no packet would pass with more

// A FaultParser reads the words one after the other.
class FaultParser {
 public:
  explicit FaultParser(std::span<const std::string> words) : words_(words) {}

  absl::StatusOr<FaultRequest> Parse() {
    IBEMU_RETURN_IF_ERROR(ReadPlace());
    while (!words_.empty()) IBEMU_RETURN_IF_ERROR(ReadClause(words_.Take()));
    if (!goes_wrong_) {
      return Wrong(AtNode() ? "nothing goes wrong: add slow or loss"
                            : "nothing goes wrong: add loss, corrupt, ber, "
                              "duplicate, reorder, delay or flap");
    }
    if (!HasPacketFaults(request_) &&
        (words_.Saw("dir") || words_.Saw("attr"))) {
      return Wrong(
          "a flap concerns every packet of both directions: leave out dir and "
          "attr");
    }
    return request_;
  }

 private:
  bool AtNode() const { return request_.place == Place::kNode; }

  absl::Status ReadPlace() {
    if (words_.empty())
      return Wrong(
          "write where: link NODE/PORT, node NODE, qp NODE/QPN, host NODE or "
          "process PID");
    const std::string kind = words_.Take();
    if (kind == "node") {
      request_.place = Place::kNode;
      if (words_.empty()) return Wrong("\"node\" needs one: write node NODE");
      request_.port.node = words_.Take();
      return absl::OkStatus();
    }
    if (kind != "link") {
      return Wrong(absl::StrFormat(
          "\"%s\" is no place of a fault: write link NODE/PORT, node NODE, "
          "qp NODE/QPN, host NODE or process PID",
          kind));
    }
    if (words_.empty()) {
      return Wrong("\"link\" needs a port: write link NODE/PORT");
    }
    IBEMU_ASSIGN_OR_RETURN(request_.port, ParsePort(words_.Take()));
    return absl::OkStatus();
  }

  absl::Status ReadClause(const std::string& word) {
    IBEMU_RETURN_IF_ERROR(words_.Begin(word));
    for (const ChanceWord& chance : kChanceWords) {
      if (word != chance.word || (AtNode() && !chance.of_node)) continue;
      goes_wrong_ = true;
      return words_.ReadChance(word, request_.faults.*chance.chance);
    }
    if (word == "attr") return ReadFilter();
    if (word == "seed") return words_.ReadSeed(request_.seed);
    if (word == (AtNode() ? "slow" : "delay")) {
      goes_wrong_ = true;
      return words_.ReadDelay(word, request_.faults.delay,
                              request_.faults.jitter);
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
    for (const ChanceWord& chance : kChanceWords) guess.Offer(chance.word);
    for (const char* known : {"delay", "ber", "flap", "dir"}) {
      guess.Offer(known);
    }
    return Wrong(
        absl::StrFormat("\"%s\" is no fault%s", word, guess.Question()));
  }

  absl::Status ReadBer() {
    const std::string text = words_.Take();
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

  absl::Status ReadFlap() {
    std::vector<absl::Duration> times;
    while (times.size() < 3 && words_.TimeFollows()) {
      const std::string text = words_.Take();
      absl::Duration time;
      IBEMU_RETURN_IF_ERROR(ParseTime("flap", text, time));
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
    const std::string text = words_.Take();
    IBEMU_ASSIGN_OR_RETURN(request_.faults.concerns,
                           fabric::ParsePacketFilter(text));
    if (!AtNode()) return absl::OkStatus();
    const fabric::PacketFilter& filter = request_.faults.concerns;
    if (filter.kind == fabric::PacketFilter::Kind::kVerbs) {
      return Wrong("attr verbs: a node's agents answer MADs alone");
    }
    if (filter.mgmt_class == mad::MgmtClass::kCommunication) {
      return Wrong(absl::StrFormat(
          "attr %s: a host sends messages of connections itself, they are no "
          "answers of a node's agents: add the fault to its link",
          text));
    }
    return absl::OkStatus();
  }

  absl::Status ReadDirection() {
    const std::string text = words_.Take();
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

  WordReader words_;
  bool goes_wrong_ = false;
  FaultRequest request_;
};

}  // namespace

absl::StatusOr<FaultRequest> ParseFault(const std::vector<std::string>& words) {
  WordReader reader(words);
  if (reader.TakeIf("qp")) return ParseQueuePairFault(reader);
  if (reader.TakeIf("host")) return ParseHostFault(reader);
  if (reader.TakeIf("process")) return ParseProcessFault(reader);
  return FaultParser(words).Parse();
}

bool HasPacketFaults(const FaultRequest& request) {
  LinkFaults none;
  none.concerns = request.faults.concerns;
  return !request.flap || request.faults != none;
}

std::string FaultText(const FaultRequest& request) {
  if (request.place == Place::kQueuePair) return QueuePairFaultText(request);
  if (request.place == Place::kHost) return HostFaultText(request);
  if (request.place == Place::kProcess) return ProcessFaultText(request);
  const LinkFaults& faults = request.faults;
  std::vector<std::string> parts =
      EffectTexts(faults, request.place == Place::kNode ? "slow" : "delay");
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
