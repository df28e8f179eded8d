#include "daemon/capture/capture_methods.h"

#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "daemon/capture/host_capture.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

void CaptureMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("capture.start", [this](control::Parameters& parameters,
                                         control::Caller& caller) {
    return Start(parameters, caller);
  });
}

absl::StatusOr<json> CaptureMethods::Start(control::Parameters& parameters,
                                           control::Caller& caller) {
  const std::vector<std::string> names = parameters.Texts("ports");
  const std::string host = parameters.Text("host", "");
  const bool tell_ports = parameters.Flag("tell_ports", false);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  if (!host.empty() && !names.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        "--host=", host, " captures the MADs of a host, ", names.front(),
        " the packets of a link: name one or the other"));
  }
  AdapterId adapter{};
  LinkCapture::Ports ports;
  if (host.empty()) {
    IBEMU_ASSIGN_OR_RETURN(ports, FindPorts(names));
  } else {
    IBEMU_ASSIGN_OR_RETURN(adapter, FindHost(host));
  }
  UniqueFd socket = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "capture.start"));
  std::erase_if(captures_,
                [](const auto& capture) { return capture.expired(); });
  if (captures_.size() == kMaxCaptures) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("a daemon has at most %d captures", kMaxCaptures));
  }
  const CaptureStream::Options options{.tell_ports = tell_ports,
                                       .wall_clock = absl::Now() - loop_.Now()};
  if (host.empty()) {
    IBEMU_RETURN_IF_ERROR(
        Keep(std::make_shared<LinkCapture>(loop_, *fabric_, std::move(ports),
                                           std::move(socket), options),
             caller));
  } else {
    IBEMU_RETURN_IF_ERROR(
        Keep(std::make_shared<HostCapture>(loop_, hosts_, adapter,
                                           std::move(socket), options),
             caller));
  }
  return json::object();
}

template <class Capture>
absl::Status CaptureMethods::Keep(std::shared_ptr<Capture> capture,
                                  control::Caller& caller) {
  IBEMU_RETURN_IF_ERROR(capture->Start());
  captures_.push_back(capture);
  caller.Keep(std::move(capture));
  return absl::OkStatus();
}

absl::StatusOr<AdapterId> CaptureMethods::FindHost(
    const std::string& name) const {
  const Adapters& adapters = hosts_.adapters();
  IBEMU_ASSIGN_OR_RETURN(const AdapterId adapter, adapters.Find(name));
  IBEMU_RETURN_IF_ERROR(adapters.CheckShowable(adapter));
  return adapter;
}

absl::StatusOr<LinkCapture::Ports> CaptureMethods::FindPorts(
    const std::vector<std::string>& names) const {
  if (fabric_ == nullptr) {
    return absl::FailedPreconditionError(
        "this daemon drives adapters and has no simulated subnet whose links "
        "could be captured: name an adapter with --host");
  }
  LinkCapture::Ports ports;
  for (const std::string& name : names) {
    IBEMU_ASSIGN_OR_RETURN(const PortText port, ParsePort(name));
    IBEMU_ASSIGN_OR_RETURN(const topology::NodeId node,
                           fabric_->Find(port.node));
    IBEMU_ASSIGN_OR_RETURN(const fabric::PortId id,
                           fabric_->FindPort(node, port.port));
    ports.insert(id);
  }
  return ports;
}

}  // namespace ibemu::daemon
