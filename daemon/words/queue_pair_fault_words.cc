#include "daemon/words/queue_pair_fault_words.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "daemon/words/packet_effects.h"
#include "daemon/words/queue_pair_text.h"
#include "fabric/faults/opcode_filter.h"
#include "verbs/wc_status.h"
#include "wire/psn.h"

namespace ibemu::daemon {
namespace {

using fabric::LinkFaults, fabric::WorkRequestFault;

namespace wc_status = verbs::wc_status;

constexpr absl::Duration kLongestRnr = absl::Hours(24);

// IBA vol 1 §11.6.2, in its order.
constexpr struct {
  std::string_view name;
  uint32_t status;
} kStatuses[] = {
    {"local-length-error", wc_status::kLocalLength},
    {"local-qp-operation-error", wc_status::kLocalQpOperation},
    {"local-protection-error", wc_status::kLocalProtection},
    {"flushed-error", wc_status::kFlushed},
    {"window-bind-error", wc_status::kWindowBind},
    {"bad-response-error", wc_status::kBadResponse},
    {"local-access-error", wc_status::kLocalAccess},
    {"remote-invalid-request-error", wc_status::kRemoteInvalidRequest},
    {"remote-access-error", wc_status::kRemoteAccess},
    {"remote-operation-error", wc_status::kRemoteOperation},
    {"retry-exceeded-error", wc_status::kRetriesExceeded},
    {"rnr-retry-exceeded-error", wc_status::kRnrRetriesExceeded},
    {"remote-aborted-error", wc_status::kRemoteAborted},
    {"general-error", wc_status::kGeneral},
};

// A QueuePairFaultParser reads the clauses of one fault.
class QueuePairFaultParser {
 public:
  explicit QueuePairFaultParser(WordReader& words) : words_(words) {
    request_.place = FaultRequest::Place::kQueuePair;
  }

  absl::Status ReadPlace() { return ReadPlace(words_.Take()); }

  absl::StatusOr<FaultRequest> ReadEffects() {
    while (!words_.empty()) IBEMU_RETURN_IF_ERROR(ReadClause(words_.Take()));
    IBEMU_RETURN_IF_ERROR(CheckTogether());
    if (request_.requests) {
      WorkRequestFault& requests = *request_.requests;
      requests.window = {.first = request_.faults.first,
                         .last = request_.faults.last};
      requests.of_sends = request_.direction != FaultDirection::kReceive;
      requests.of_receives = request_.direction != FaultDirection::kTransmit;
    }
    return request_;
  }

 private:
  absl::Status ReadPlace(const std::string& text) {
    constexpr std::string_view kRule =
        "write NODE/QPN, as in node-3/0x12, or NODE/* for all of the node";
    if (text.empty()) {
      return Wrong(absl::StrFormat("\"qp\" needs a queue pair: %s", kRule));
    }
    if (text.ends_with("/*")) {
      request_.port.node = text.substr(0, text.size() - 2);
      return absl::OkStatus();
    }
    const auto name = ParseQueuePairName(text);
    if (!name) {
      return Wrong(
          absl::StrFormat("\"%s\" names no queue pair: %s", text, kRule));
    }
    request_.port.node = name->node;
    request_.qpn = name->qpn;
    return absl::OkStatus();
  }

  absl::Status ReadClause(const std::string& word) {
    IBEMU_RETURN_IF_ERROR(words_.Begin(word));
    LinkFaults& faults = request_.faults;
    for (const ChanceWord& chance : kChanceWords) {
      if (word != chance.word) continue;
      packets_ = true;
      faults.*chance.chance = 1;
      if (!words_.PercentageFollows()) return absl::OkStatus();
      return words_.ReadChance(word, faults.*chance.chance);
    }
    if (word == "delay") {
      packets_ = true;
      return words_.ReadDelay(word, faults.delay, faults.jitter);
    }
    if (word == "opcode") return ReadOpcode();
    if (word == "psn") return ReadPsn();
    if (word == "nth") return words_.ReadWindow(faults.first, faults.last);
    if (word == "dir") return ReadDirection();
    if (word == "seed") return words_.ReadSeed(request_.seed);
    if (word == "rnr") return ReadRnr();
    if (word == "completion") return ReadCompletion();
    if (word == "vendor-err") return ReadVendorErr();
    if (word == "error") return Act(FaultAct::kError);
    if (word == "sqe") return Act(FaultAct::kSendQueueError);
    DidYouMean guess(word, {"delay", "opcode", "psn", "nth", "dir", "seed",
                            "rnr", "completion", "vendor-err", "error", "sqe"});
    for (const ChanceWord& chance : kChanceWords) guess.Offer(chance.word);
    return Wrong(absl::StrFormat("\"%s\" is no fault of a queue pair%s", word,
                                 guess.Question()));
  }

  absl::Status Act(FaultAct act) {
    request_.act = act;
    return absl::OkStatus();
  }

  absl::Status ReadOpcode() {
    IBEMU_ASSIGN_OR_RETURN(request_.faults.concerns.opcode,
                           fabric::ParseOpcodeFilter(words_.Take()));
    return absl::OkStatus();
  }

  absl::Status ReadPsn() {
    IBEMU_ASSIGN_OR_RETURN(request_.faults.concerns.psn,
                           words_.ReadNumber("psn", 0, wire::kPsnMask));
    return absl::OkStatus();
  }

  absl::Status ReadDirection() {
    const std::string text = words_.Take();
    if (text != "tx" && text != "rx") {
      return Wrong(absl::StrFormat(
          "dir \"%s\": there are tx (what the queue pair sends) and rx (what "
          "it receives)%s",
          text, DidYouMean(text, {"tx", "rx"}).Question()));
    }
    request_.direction =
        text == "tx" ? FaultDirection::kTransmit : FaultDirection::kReceive;
    return absl::OkStatus();
  }

  absl::Status ReadRnr() {
    WorkRequestFault fault;
    fault.not_ready = true;
    if (words_.TimeFollows()) {
      const std::string text = words_.Take();
      IBEMU_RETURN_IF_ERROR(ParseTime("rnr", text, fault.span));
      if (fault.span <= absl::ZeroDuration() || fault.span > kLongestRnr) {
        return Wrong(absl::StrFormat(
            "rnr %s: the receiver is not ready for up to 24h", text));
      }
    }
    return TakeRequests(fault);
  }

  absl::Status ReadCompletion() {
    WorkRequestFault fault;
    const std::string what = words_.Take();
    if (what == "loss") {
      fault.completion.lost = true;
    } else if (what == "delay") {
      IBEMU_RETURN_IF_ERROR(
          words_.ReadDelayTime("completion delay", fault.completion.delay));
    } else {
      IBEMU_RETURN_IF_ERROR(ReadStatus(what, fault.completion.status));
    }
    return TakeRequests(fault);
  }

  static absl::Status ReadStatus(const std::string& name, uint32_t& status) {
    DidYouMean guess(name, {"loss", "delay"});
    for (const auto& known : kStatuses) {
      guess.Offer(known.name);
      if (name != known.name) continue;
      status = known.status;
      return absl::OkStatus();
    }
    return Wrong(absl::StrFormat(
        "completion \"%s\": write loss, delay TIME, or an error as in "
        "remote-access-error%s",
        name, guess.Question()));
  }

  absl::Status TakeRequests(const WorkRequestFault& fault) {
    if (request_.requests) {
      return Wrong("rnr and completion are two faults: add each by itself");
    }
    request_.requests = fault;
    return absl::OkStatus();
  }

  absl::Status ReadVendorErr() {
    IBEMU_ASSIGN_OR_RETURN(vendor_err_,
                           words_.ReadNumber("vendor-err", 0, 0xffffffff));
    return absl::OkStatus();
  }

  absl::Status CheckTogether() {
    const bool acts = request_.act != FaultAct::kNone;
    if (!acts && !packets_ && !request_.requests) {
      return Wrong(
          "nothing goes wrong: add loss, corrupt, duplicate, reorder, delay, "
          "rnr, completion, error or sqe");
    }
    if (int{acts} + int{packets_} + int{request_.requests.has_value()} > 1 ||
        (words_.Saw("error") && words_.Saw("sqe"))) {
      return Wrong(
          "packets, rnr, completion, error and sqe are faults of their own: "
          "add each by itself");
    }
    if (!packets_ && (words_.Saw("opcode") || words_.Saw("psn"))) {
      return Wrong("opcode and psn select packets: add loss, delay ...");
    }
    if (!packets_ && words_.Saw("seed")) {
      return Wrong("nothing here is left to chance: leave out seed");
    }
    if ((acts || words_.Saw("rnr")) && words_.Saw("dir")) {
      return Wrong("dir is for packets and completions: leave it out");
    }
    if (acts && words_.Saw("nth")) {
      return Wrong("error and sqe are entered now: leave out nth");
    }
    if (!vendor_err_) return absl::OkStatus();
    if (!request_.requests || request_.requests->completion.status == 0) {
      return Wrong("vendor-err belongs to a completion with an error");
    }
    request_.requests->completion.vendor_err = *vendor_err_;
    return absl::OkStatus();
  }

  WordReader& words_;
  bool packets_ = false;
  std::optional<uint32_t> vendor_err_;
  FaultRequest request_;
};

std::string_view CompletionStatusName(uint32_t status) {
  for (const auto& known : kStatuses) {
    if (known.status == status) return known.name;
  }
  return "unknown";
}

std::string RequestsText(const WorkRequestFault& fault) {
  if (fault.not_ready) {
    return fault.span == absl::InfiniteDuration()
               ? "rnr"
               : absl::StrCat("rnr ", absl::FormatDuration(fault.span));
  }
  const fabric::CompletionFate& fate = fault.completion;
  if (fate.lost) return "completion loss";
  if (fate.status == 0) {
    return absl::StrCat("completion delay ", absl::FormatDuration(fate.delay));
  }
  std::string text =
      absl::StrCat("completion ", Absl(CompletionStatusName(fate.status)));
  if (fate.vendor_err != 0) {
    absl::StrAppendFormat(&text, " vendor-err 0x%x", fate.vendor_err);
  }
  return text;
}

}  // namespace

absl::StatusOr<FaultRequest> ParseQueuePairFault(WordReader& words) {
  QueuePairFaultParser parser(words);
  IBEMU_RETURN_IF_ERROR(parser.ReadPlace());
  return parser.ReadEffects();
}

absl::StatusOr<FaultRequest> ParseQueuePairEffects(WordReader& words) {
  return QueuePairFaultParser(words).ReadEffects();
}

std::string QueuePairFaultText(const FaultRequest& request) {
  if (request.act == FaultAct::kError) return "error";
  if (request.act == FaultAct::kSendQueueError) return "sqe";
  const LinkFaults& faults = request.faults;
  std::vector<std::string> parts;
  if (request.requests) {
    parts.push_back(RequestsText(*request.requests));
  } else {
    parts = EffectTexts(faults, "delay");
    if (parts.empty()) parts.emplace_back("loss 0%");
    if (faults.concerns.opcode) {
      parts.push_back(
          absl::StrCat("opcode ", fabric::NameOf(*faults.concerns.opcode)));
    }
    if (faults.concerns.psn) {
      parts.push_back(absl::StrFormat("psn 0x%x", *faults.concerns.psn));
    }
  }
  const std::string window = WindowText(faults.first, faults.last);
  if (!window.empty()) parts.push_back(window);
  return absl::StrJoin(parts, " ");
}

std::string QpnText(std::optional<uint32_t> qpn) {
  return qpn ? absl::StrFormat("0x%x", *qpn) : "*";
}

}  // namespace ibemu::daemon
