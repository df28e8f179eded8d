#include "daemon/adapters/fabric_adapters.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "fabric/soft_hca/hca.h"
#include "fabric/subnet/subnet.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {

using nlohmann::json;
using topology::NodeId;

void FabricAdapters::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("device.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetDevice(parameters);
                 });
}

const fabric::Node& FabricAdapters::node(AdapterId adapter) const {
  return fabric_.subnet().node(NodeOf(adapter));
}

absl::StatusOr<AdapterId> FabricAdapters::Find(std::string_view name) const {
  IBEMU_ASSIGN_OR_RETURN(const NodeId found, fabric_.Find(name));
  return IdOf(found);
}

absl::StatusOr<std::vector<AdapterId>> FabricAdapters::FindHost(
    std::string_view name) const {
  IBEMU_ASSIGN_OR_RETURN(const std::vector<NodeId> found,
                         fabric_.FindHost(name));
  std::vector<AdapterId> adapters;
  adapters.reserve(found.size());
  for (const NodeId node : found) adapters.push_back(IdOf(node));
  return adapters;
}

std::optional<AdapterId> FabricAdapters::WithPortGuid(wire::Guid guid) const {
  const fabric::Subnet& subnet = fabric_.subnet();
  if (by_port_guid_.empty()) {
    for (const fabric::NodePort& port : subnet.ports()) {
      by_port_guid_.try_emplace(port.guid, IdOf(port.node));
    }
  }
  const auto found = by_port_guid_.find(guid);
  if (found == by_port_guid_.end()) return std::nullopt;
  return found->second;
}

absl::StatusOr<AdapterId> FabricAdapters::Default() const {
  const auto nodes = fabric_.subnet().nodes();
  const auto first =
      std::find_if(nodes.begin(), nodes.end(), [](const fabric::Node& node) {
        return node.type == mad::NodeType::kChannelAdapter && !node.remote;
      });
  if (first == nodes.end()) {
    return absl::NotFoundError(
        "the fabric has no free channel adapter: name a switch with --host");
  }
  return static_cast<AdapterId>(first - nodes.begin());
}

bool FabricAdapters::IsRemoved(AdapterId adapter) const {
  return !node(adapter).plugged;
}

absl::Status FabricAdapters::CheckShowable(AdapterId adapter) const {
  const fabric::Node& shown = node(adapter);
  if (shown.remote) {
    return absl::FailedPreconditionError(absl::StrCat(
        "the adapter of \"", shown.description,
        "\" is elsewhere: a modelled one (ibemu-hca-model), or that "
        "of a joined host (--join)"));
  }
  if (!IsRemoved(adapter)) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("the device of \"", shown.description,
                   "\" is removed: put it back with \"ibemu device ",
                   shown.description, " add\""));
}

std::string FabricAdapters::description(AdapterId adapter) const {
  return node(adapter).description;
}

wire::Guid FabricAdapters::node_guid(AdapterId adapter) const {
  return node(adapter).node_guid;
}

mad::Device& FabricAdapters::device(AdapterId adapter) {
  return fabric_.device(NodeOf(adapter));
}

verbs::Provider& FabricAdapters::provider(AdapterId adapter) {
  return fabric_.provider(NodeOf(adapter));
}

verbs::HwCounters FabricAdapters::CountersOf(AdapterId adapter,
                                             int port) const {
  const fabric::Hca* const hca = fabric_.FindHca(NodeOf(adapter));
  return hca == nullptr ? verbs::HwCounters() : hca->CountersOf(port);
}

// Programs see the change before the response is sent.
absl::StatusOr<json> FabricAdapters::SetDevice(
    control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const bool present = parameters.Flag("present", true);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId found, fabric_.Find(name));
  IBEMU_RETURN_IF_ERROR(present ? fabric_.AddDevice(found)
                                : fabric_.RemoveDevice(found));
  TellChange(IdOf(found), present);
  return json{{"present", present}};
}

}  // namespace ibemu::daemon
