#include "daemon/capture_methods.h"

#include <sys/socket.h>

#include <string>
#include <utility>

#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "daemon/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

// Only a socket can be written to without ever waiting, whoever has its other
// end.
bool IsStreamSocket(int fd) {
  const auto option = [fd](int name) {
    int value = -1;
    socklen_t size = sizeof value;
    return getsockopt(fd, SOL_SOCKET, name, &value, &size) == 0 ? value : -1;
  };
  return option(SO_DOMAIN) == AF_UNIX && option(SO_TYPE) == SOCK_STREAM;
}

}  // namespace

CaptureMethods::CaptureMethods(Loop& loop, fabric::Fabric& fabric)
    : loop_(loop), fabric_(fabric) {}

void CaptureMethods::AddTo(Dispatcher& dispatcher) {
  dispatcher.Add("capture.start",
                 [this](Parameters& parameters, Caller& caller) {
                   return Start(parameters, caller);
                 });
}

absl::StatusOr<json> CaptureMethods::Start(Parameters& parameters,
                                           Caller& caller) {
  const std::vector<std::string> names = parameters.Texts("ports");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd socket = caller.TakeDescriptor();
  absl::flat_hash_set<fabric::PortId> ports;
  for (const std::string& name : names) {
    IBEMU_ASSIGN_OR_RETURN(const PortText port, ParsePort(name));
    IBEMU_ASSIGN_OR_RETURN(const fabric::NodeId node, fabric_.Find(port.node));
    IBEMU_ASSIGN_OR_RETURN(const fabric::PortId id,
                           fabric_.FindPort(node, port.port));
    ports.insert(id);
  }
  if (!IsStreamSocket(socket.get())) {
    return absl::InvalidArgumentError(
        "capture.start needs a unix stream socket with the request");
  }
  std::erase_if(captures_,
                [](const auto& capture) { return capture.expired(); });
  if (captures_.size() == kMostCaptures) {
    return absl::ResourceExhaustedError(
        absl::StrFormat("a fabric has at most %d captures", kMostCaptures));
  }
  const auto capture =
      std::make_shared<Capture>(loop_, fabric_, std::move(socket),
                                std::move(ports), absl::Now() - loop_.Now());
  IBEMU_RETURN_IF_ERROR(capture->Start());
  captures_.push_back(capture);
  caller.Keep(capture);
  return json::object();
}

}  // namespace ibemu::daemon
