#include "daemon/subnet/path_methods.h"

#include <cstdint>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/absl_text.h"
#include "base/status_macros.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"
#include "fabric/routing/path_trace.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using fabric::DropCause, fabric::PathHop, fabric::PathTrace, fabric::PortId,
    fabric::Subnet;
using nlohmann::json;

json PortNumber(const Subnet& subnet, PortId id) {
  return id == fabric::kNoPort ? json() : json(subnet.port(id).number);
}

json DescribeHop(const Subnet& subnet, const PathHop& hop) {
  const fabric::Node& node =
      subnet.NodeOf(hop.entry == fabric::kNoPort ? hop.exit : hop.entry);
  return {{"node", node.description},
          {"name", node.name},
          {"guid", GuidText(node.node_guid)},
          {"entry", PortNumber(subnet, hop.entry)},
          {"exit", PortNumber(subnet, hop.exit)}};
}

// One of the LIDs of `port`: the first one if `wanted` is 0.
absl::StatusOr<wire::Lid> ChooseLid(const Subnet& subnet, PortId port,
                                    int64_t wanted) {
  const fabric::NodePort& target = subnet.port(port);
  if (wanted == 0) return target.info.lid;
  const auto lid = static_cast<wire::Lid>(wanted);
  if (target.Owns(lid)) return lid;
  return absl::InvalidArgumentError(
      absl::StrFormat("LID %d is none of port %d of %s", wanted, target.number,
                      subnet.NodeOf(port).description));
}

// Where and why a path ends that does not arrive.
std::string EndText(const Subnet& subnet, const PathTrace& trace,
                    wire::Lid dlid) {
  const PathHop& last = trace.hops.back();
  const PortId at = last.exit == fabric::kNoPort ? last.entry : last.exit;
  const std::string& node = subnet.NodeOf(at).description;
  const int port = subnet.port(at).number;
  const auto lid = static_cast<unsigned>(dlid);
  switch (*trace.end) {
    case DropCause::kNodeDown:
      return absl::StrFormat("%s is switched off", node);
    case DropCause::kLinkDown:
      return absl::StrFormat("port %d of %s is not active", port, node);
    case DropCause::kPortInactive:
      return absl::StrFormat("port %d of %s takes nothing: it is not active",
                             port, node);
    case DropCause::kNoRoute:
      return absl::StrFormat("%s has no forwarding entry for LID %d", node,
                             lid);
    case DropCause::kLooping:
      return absl::StrFormat(
          "%s would send LID %d back through port %d, where it came in", node,
          lid, port);
    case DropCause::kHopLimit:
      return absl::StrFormat("the forwarding tables lead LID %d in a circle",
                             lid);
    default:
      return absl::StrFormat("LID %d leads to %s, which is another's", lid,
                             node);
  }
}

}  // namespace

void PathMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("path.trace",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Trace(parameters);
                 });
}

absl::StatusOr<PortId> PathMethods::FindEnd(const std::string& name,
                                            int number) const {
  IBEMU_ASSIGN_OR_RETURN(const topology::NodeId id, fabric_.Find(name));
  const Subnet& subnet = fabric_.subnet();
  const fabric::Node& node = subnet.node(id);
  if (node.is_switch()) return node.first_port;
  if (number != 0) return fabric_.FindPort(id, number);
  for (const fabric::NodePort& port : subnet.PortsOf(node)) {
    if (port.IsActive()) return subnet.id_of(port);
  }
  return fabric_.FindPort(id, 1);
}

absl::StatusOr<json> PathMethods::Trace(control::Parameters& parameters) const {
  const std::string from_name = parameters.Text("from", "");
  const std::string to_name = parameters.Text("to", "");
  const auto from_port = static_cast<int>(
      parameters.Number("from_port", 0, 0, topology::kMaxPorts));
  const auto to_port =
      static_cast<int>(parameters.Number("to_port", 0, 0, topology::kMaxPorts));
  const int64_t lid = parameters.Number(
      "lid", 0, 1, static_cast<int64_t>(wire::Lid::kLastUnicast));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const PortId from, FindEnd(from_name, from_port));
  IBEMU_ASSIGN_OR_RETURN(const PortId to, FindEnd(to_name, to_port));
  const Subnet& subnet = fabric_.subnet();
  IBEMU_ASSIGN_OR_RETURN(const wire::Lid dlid, ChooseLid(subnet, to, lid));
  json result = {{"lid", static_cast<unsigned>(dlid)},
                 {"hops", json::array()},
                 {"end", nullptr},
                 {"text", nullptr}};
  if (dlid == wire::Lid::kUnassigned) {
    result["end"] = fabric::NameOf(DropCause::kNoRoute);
    result["text"] =
        absl::StrFormat("port %d of %s has no LID yet", subnet.port(to).number,
                        subnet.NodeOf(to).description);
    return result;
  }
  const PathTrace trace = fabric::TracePath(subnet, from, dlid);
  for (const PathHop& hop : trace.hops) {
    result["hops"].push_back(DescribeHop(subnet, hop));
  }
  if (trace.end) {
    result["end"] = fabric::NameOf(*trace.end);
    result["text"] = EndText(subnet, trace, dlid);
  }
  return result;
}

}  // namespace ibemu::daemon
