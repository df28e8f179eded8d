#include "daemon/remote_node/leases/meeting_point.h"

#include "base/secret.h"
#include "base/socket_pair.h"
#include "base/status_macros.h"
#include "control/bounded_stream.h"
#include "launch/pass_descriptor.h"

namespace ibemu::daemon {

using nlohmann::json;

MeetingPoint::~MeetingPoint() {
  for (const auto& [token, waiting] : waiting_) timers_.Cancel(waiting.limit);
}

void MeetingPoint::AddTo(control::MethodTable& methods) {
  methods.Add("lease.meet",
              [this](control::Parameters& parameters, control::Caller& caller) {
                return Meet(parameters, caller);
              });
}

absl::StatusOr<json> MeetingPoint::Meet(control::Parameters& parameters,
                                        control::Caller& caller) {
  const std::string token = parameters.Text("token", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd line = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(control::CheckStreamSocket(line.get(), "lease.meet"));
  IBEMU_RETURN_IF_ERROR(CheckSecretText(token));
  const auto other = waiting_.find(token);
  if (other == waiting_.end()) {
    if (waiting_.size() == kMaxWaiting) {
      return absl::ResourceExhaustedError("too many wait for each other");
    }
    waiting_[token] = {
        std::move(line),
        timers_.RunAfter(kWaitsFor, [this, token] { waiting_.erase(token); })};
    return json::object();
  }
  timers_.Cancel(other->second.limit);
  const UniqueFd first = std::move(other->second.line);
  waiting_.erase(other);
  IBEMU_ASSIGN_OR_RETURN(const SocketPair ends, MakeSocketPair());
  const auto& [one, another] = ends;
  // Of one that has gone, or takes nothing, the other sees that its connection
  // ends.
  launch::SendDescriptor(first.get(), one.get()).IgnoreError();
  launch::SendDescriptor(line.get(), another.get()).IgnoreError();
  return json::object();
}

}  // namespace ibemu::daemon
