#include "daemon/words/host_fault_words.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "topology/topology.h"

namespace ibemu::daemon {
namespace {

using fabric::EventFault, fabric::EventKind;
using fabric::ResourceCall, fabric::ResourceFault;
using verbs::AsyncEventType;

constexpr struct {
  std::string_view name;
  ResourceCall call;
} kCalls[] = {
    {"alloc-pd", ResourceCall::kAllocPd},
    {"reg-mr", ResourceCall::kRegMr},
    {"create-cq", ResourceCall::kCreateCq},
    {"create-qp", ResourceCall::kCreateQp},
    {"create-srq", ResourceCall::kCreateSrq},
    {"create-ah", ResourceCall::kCreateAh},
};

// As cuse::VerbsErrno() turns them into numbers again.
constexpr struct {
  std::string_view name;
  absl::StatusCode code;
} kErrors[] = {
    {"ENOMEM", absl::StatusCode::kResourceExhausted},
    {"EINVAL", absl::StatusCode::kInvalidArgument},
    {"EAGAIN", absl::StatusCode::kDeadlineExceeded},
};

constexpr struct {
  std::string_view name;
  AsyncEventType type;
} kEvents[] = {
    {"port-active", AsyncEventType::kPortActive},
    {"port-error", AsyncEventType::kPortError},
    {"lid-change", AsyncEventType::kLidChange},
    {"gid-change", AsyncEventType::kGidChange},
    {"pkey-change", AsyncEventType::kPKeyChange},
    {"sm-change", AsyncEventType::kSmChange},
    {"client-reregister", AsyncEventType::kClientReregister},
    {"device-fatal", AsyncEventType::kDeviceFatal},
};

constexpr struct {
  std::string_view name;
  EventKind kind;
} kKinds[] = {
    {"completion-event", EventKind::kCompletion},
    {"async-event", EventKind::kAsynchronous},
};

// A HostFaultParser reads the clauses of one fault.
class HostFaultParser {
 public:
  explicit HostFaultParser(WordReader& words) : words_(words) {
    request_.place = FaultRequest::Place::kHost;
  }

  absl::Status ReadPlace() {
    if (words_.empty()) return Wrong("\"host\" needs one: write host NODE");
    request_.port.node = words_.Take();
    return absl::OkStatus();
  }

  absl::StatusOr<FaultRequest> ReadEffects() {
    if (words_.empty()) {
      return Wrong(
          "nothing goes wrong: add a call, as in create-qp, or event NAME");
    }
    const std::string what = words_.Take();
    IBEMU_RETURN_IF_ERROR(what == "event" ? ReadEvent() : ReadFault(what));
    if (!words_.empty()) return NoSuchWord(words_.Take());
    return request_;
  }

 private:
  absl::Status ReadFault(const std::string& name) {
    for (const auto& known : kKinds) {
      if (name == known.name) return ReadEvents(name, known.kind);
    }
    return ReadCall(name);
  }

  absl::Status ReadEvents(const std::string& name, EventKind kind) {
    EventFault fault{.kind = kind};
    const std::string what = words_.Take();
    if (what == "loss") {
      fault.fate.lost = true;
    } else if (what == "delay") {
      IBEMU_RETURN_IF_ERROR(ReadLateness(fault.fate.delay));
    } else {
      return Wrong(
          absl::StrFormat("%s \"%s\": write loss, or delay TIME%s", name, what,
                          DidYouMean(what, {"loss", "delay"}).Question()));
    }
    while (!words_.empty()) {
      const std::string word = words_.Take();
      IBEMU_RETURN_IF_ERROR(words_.Begin(word));
      if (word != "nth") {
        return Wrong(absl::StrFormat("\"%s\" is no word here%s", word,
                                     DidYouMean(word, {"nth"}).Question()));
      }
      IBEMU_RETURN_IF_ERROR(
          words_.ReadWindow(fault.window.first, fault.window.last));
    }
    request_.events = fault;
    return absl::OkStatus();
  }

  absl::Status ReadLateness(absl::Duration& delay) {
    IBEMU_RETURN_IF_ERROR(words_.ReadDelayTime("delay", delay));
    if (delay > absl::ZeroDuration()) return absl::OkStatus();
    return Wrong("delay 0s: nothing goes wrong");
  }

  absl::Status ReadCall(const std::string& name) {
    DidYouMean guess(name, {"event", "completion-event", "async-event"});
    for (const auto& known : kCalls) {
      guess.Offer(known.name);
      if (name != known.name) continue;
      ResourceFault fault{.call = known.call};
      IBEMU_RETURN_IF_ERROR(ReadHow(fault));
      request_.resource = fault;
      return absl::OkStatus();
    }
    return Wrong(absl::StrFormat(
        "\"%s\" is no fault of a host: there are alloc-pd, reg-mr, create-cq, "
        "create-qp, create-srq, create-ah, event, completion-event and "
        "async-event%s",
        name, guess.Question()));
  }

  absl::Status ReadHow(ResourceFault& fault) {
    while (!words_.empty()) {
      const std::string word = words_.Take();
      IBEMU_RETURN_IF_ERROR(words_.Begin(word));
      if (word == "nth") {
        IBEMU_RETURN_IF_ERROR(
            words_.ReadWindow(fault.window.first, fault.window.last));
      } else if (word == "errno") {
        IBEMU_RETURN_IF_ERROR(ReadError(words_.Take(), fault));
      } else if (word == "delay") {
        IBEMU_RETURN_IF_ERROR(ReadLateness(fault.delay));
      } else {
        return NoSuchWord(word);
      }
    }
    if (!words_.Saw("delay")) return absl::OkStatus();
    if (fault.call != ResourceCall::kRegMr) {
      return Wrong("delay is for reg-mr: other calls are answered at once");
    }
    if (words_.Saw("errno")) {
      return Wrong("delay and errno are two faults: add each by itself");
    }
    return absl::OkStatus();
  }

  static absl::Status ReadError(const std::string& name, ResourceFault& fault) {
    for (const auto& known : kErrors) {
      if (name != known.name) continue;
      fault.error = known.code;
      return absl::OkStatus();
    }
    return Wrong(absl::StrFormat(
        "errno \"%s\": there are ENOMEM, EINVAL and EAGAIN%s", name,
        DidYouMean(name, {"ENOMEM", "EINVAL", "EAGAIN"}).Question()));
  }

  absl::Status ReadEvent() {
    const std::string name = words_.Take();
    DidYouMean guess(name);
    for (const auto& known : kEvents) {
      guess.Offer(known.name);
      if (name != known.name) continue;
      request_.act = FaultAct::kEvent;
      request_.event = known.type;
      return ReadEventPort();
    }
    return Wrong(absl::StrFormat(
        "event \"%s\": there are port-active, port-error, lid-change, "
        "gid-change, pkey-change, sm-change, client-reregister and "
        "device-fatal%s",
        name, guess.Question()));
  }

  absl::Status ReadEventPort() {
    const bool of_device = request_.event == AsyncEventType::kDeviceFatal;
    if (!of_device) request_.event_port = 1;
    if (!words_.TakeIf("port")) return absl::OkStatus();
    if (of_device) return Wrong("device-fatal is of no port: leave out port");
    IBEMU_ASSIGN_OR_RETURN(const uint32_t port,
                           words_.ReadNumber("port", 1, topology::kMaxPorts));
    request_.event_port = static_cast<int>(port);
    return absl::OkStatus();
  }

  absl::Status NoSuchWord(const std::string& word) const {
    DidYouMean guess(word);
    if (request_.act == FaultAct::kEvent) {
      guess.Offer("port");
    } else {
      guess.Offer("nth");
      guess.Offer("errno");
      guess.Offer("delay");
    }
    return Wrong(
        absl::StrFormat("\"%s\" is no word here%s", word, guess.Question()));
  }

  WordReader& words_;
  FaultRequest request_;
};

std::string EventText(const FaultRequest& request) {
  for (const auto& known : kEvents) {
    if (known.type != request.event) continue;
    std::string text = absl::StrCat("event ", Absl(known.name));
    if (request.event_port != 0) {
      absl::StrAppend(&text, " port ", request.event_port);
    }
    return text;
  }
  return "";
}

std::string LateEventsText(const EventFault& fault) {
  std::string text;
  for (const auto& known : kKinds) {
    if (known.kind == fault.kind) text = known.name;
  }
  if (fault.fate.lost) {
    absl::StrAppend(&text, " loss");
  } else {
    absl::StrAppend(&text, " delay ", absl::FormatDuration(fault.fate.delay));
  }
  const std::string window = WindowText(fault.window.first, fault.window.last);
  if (!window.empty()) absl::StrAppend(&text, " ", window);
  return text;
}

}  // namespace

absl::StatusOr<FaultRequest> ParseHostFault(WordReader& words) {
  HostFaultParser parser(words);
  IBEMU_RETURN_IF_ERROR(parser.ReadPlace());
  return parser.ReadEffects();
}

absl::StatusOr<FaultRequest> ParseHostEffects(WordReader& words) {
  return HostFaultParser(words).ReadEffects();
}

bool IsHostEffect(std::string_view word) {
  const auto is = [word](const auto& known) { return known.name == word; };
  return word == "event" || std::ranges::any_of(kCalls, is) ||
         std::ranges::any_of(kKinds, is);
}

std::string HostFaultText(const FaultRequest& request) {
  if (request.events) return LateEventsText(*request.events);
  if (!request.resource) return EventText(request);
  const ResourceFault& fault = *request.resource;
  std::string text;
  for (const auto& known : kCalls) {
    if (known.call == fault.call) text = known.name;
  }
  const std::string window = WindowText(fault.window.first, fault.window.last);
  if (!window.empty()) absl::StrAppend(&text, " ", window);
  if (fault.delay > absl::ZeroDuration()) {
    return absl::StrCat(text, " delay ", absl::FormatDuration(fault.delay));
  }
  for (const auto& known : kErrors) {
    if (known.code == fault.error) {
      absl::StrAppend(&text, " errno ", Absl(known.name));
    }
  }
  return text;
}

}  // namespace ibemu::daemon
