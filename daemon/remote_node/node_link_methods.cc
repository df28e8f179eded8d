#include "daemon/remote_node/node_link_methods.h"

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "control/bounded_stream.h"
#include "daemon/adapters/fabric_adapters.h"
#include "daemon/remote_node/fabric_cable.h"
#include "daemon/remote_node/node_link_host.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;

NodeLinkMethods::NodeLinkMethods(Loop& loop, fabric::Fabric& fabric,
                                 HostTable& hosts)
    : loop_(loop), fabric_(fabric), hosts_(hosts) {}

void NodeLinkMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("wire.attach", [this](control::Parameters& parameters,
                                       control::Caller& caller) {
    return Attach(parameters, caller);
  });
}

absl::StatusOr<json> NodeLinkMethods::Attach(control::Parameters& parameters,
                                             control::Caller& caller) {
  const std::string name = parameters.Text("node", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  UniqueFd socket = caller.TakeDescriptor();
  IBEMU_RETURN_IF_ERROR(
      control::CheckStreamSocket(socket.get(), "wire.attach"));
  IBEMU_ASSIGN_OR_RETURN(const topology::NodeId node, fabric_.Find(name));
  if (hosts_.FindUsed(FabricAdapters::IdOf(node)) != nullptr) {
    return absl::FailedPreconditionError(absl::StrCat(
        "\"", fabric_.subnet().node(node).description,
        "\" is the host of an \"ibemu run\": end that one first (\"ibemu "
        "status\" lists them), or choose another"));
  }
  IBEMU_ASSIGN_OR_RETURN(std::unique_ptr<FabricCables> cables,
                         FabricCables::Plug(fabric_, node));
  const auto host = std::make_shared<NodeLinkHost>(loop_, std::move(cables),
                                                   std::move(socket));
  IBEMU_RETURN_IF_ERROR(host->Start());
  caller.Keep(host);
  return json::object();
}

}  // namespace ibemu::daemon
