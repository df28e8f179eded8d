#include "daemon/events/event_methods.h"

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/did_you_mean.h"
#include "base/status_macros.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

absl::Status CheckKind(const std::string& kind, const EventLog& events) {
  const auto kinds = events.kinds();
  if (std::ranges::find(kinds, kind) != kinds.end()) return absl::OkStatus();
  DidYouMean guess(kind);
  for (const std::string_view known : kinds) guess.Offer(known);
  std::string help = guess.Question();
  if (help.empty()) {
    const auto append = [](std::string* text, std::string_view known) {
      text->append(known);
    };
    help = ": there are " + absl::StrJoin(kinds, ", ", append);
  }
  return absl::InvalidArgumentError(
      absl::StrFormat("\"%s\" is no kind of event%s", kind, help));
}

}  // namespace

void EventMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("events.start", [this](control::Parameters& parameters,
                                        control::Caller& caller) {
    return Start(parameters, caller);
  });
}

absl::StatusOr<json> EventMethods::Start(control::Parameters& parameters,
                                         control::Caller& caller) {
  std::vector<std::string> kinds = parameters.Texts("kinds");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd socket = caller.TakeDescriptor();
  for (const std::string& kind : kinds) {
    IBEMU_RETURN_IF_ERROR(CheckKind(kind, events_));
  }
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "events.start"));
  std::erase_if(streams_, [](const auto& stream) { return stream.expired(); });
  if (streams_.size() == kMaxStreams) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("events have at most %d readers", kMaxStreams));
  }
  const auto stream = std::make_shared<EventStream>(
      loop_, events_, std::move(socket), std::move(kinds));
  IBEMU_RETURN_IF_ERROR(stream->Start());
  streams_.push_back(stream);
  caller.Keep(stream);
  return json::object();
}

}  // namespace ibemu::daemon
