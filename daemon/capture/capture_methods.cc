#include "daemon/capture/capture_methods.h"

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

CaptureMethods::CaptureMethods(Loop& loop, fabric::Fabric& fabric)
    : loop_(loop), fabric_(fabric) {}

void CaptureMethods::AddTo(control::Dispatcher& dispatcher) {
  dispatcher.Add("capture.start", [this](control::Parameters& parameters,
                                         control::Caller& caller) {
    return Start(parameters, caller);
  });
}

absl::StatusOr<json> CaptureMethods::Start(control::Parameters& parameters,
                                           control::Caller& caller) {
  const std::vector<std::string> names = parameters.Texts("ports");
  const bool tell_ports = parameters.Flag("tell_ports", false);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd socket = caller.TakeDescriptor();
  absl::flat_hash_set<fabric::PortId> ports;
  for (const std::string& name : names) {
    IBEMU_ASSIGN_OR_RETURN(const PortText port, ParsePort(name));
    IBEMU_ASSIGN_OR_RETURN(const topology::NodeId node,
                           fabric_.Find(port.node));
    IBEMU_ASSIGN_OR_RETURN(const fabric::PortId id,
                           fabric_.FindPort(node, port.port));
    ports.insert(id);
  }
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "capture.start"));
  std::erase_if(captures_,
                [](const auto& capture) { return capture.expired(); });
  if (captures_.size() == kMaxCaptures) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("a fabric has at most %d captures", kMaxCaptures));
  }
  const auto capture = std::make_shared<Capture>(
      loop_, fabric_, std::move(socket),
      Capture::Options{.ports = std::move(ports),
                       .tell_ports = tell_ports,
                       .wall_clock = absl::Now() - loop_.Now()});
  IBEMU_RETURN_IF_ERROR(capture->Start());
  captures_.push_back(capture);
  caller.Keep(capture);
  return json::object();
}

}  // namespace ibemu::daemon
