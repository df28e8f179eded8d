#include "daemon/subnet/hardware_methods.h"

#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "base/status_macros.h"
#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;
using topology::NodeId, fabric::NodePort, fabric::PortId, fabric::Subnet;

constexpr int kLastUnicastLid = 0xbfff;
constexpr int kMaxLmc = 7;

json DescribePort(const Subnet& subnet, const NodePort& port) {
  json peer;
  if (port.peer != fabric::kNoPort) {
    const NodePort& other = subnet.port(port.peer);
    peer = {{"node", subnet.node(other.node).name}, {"port", other.number}};
  }
  return {{"port", port.number},
          {"guid", GuidText(port.guid)},
          {"lid", static_cast<unsigned>(port.info.lid)},
          {"lmc", port.info.lmc},
          {"sm_lid", static_cast<unsigned>(port.info.master_sm_lid)},
          {"state", PortStateText(port.info.port_state)},
          {"physical_state", PhysicalStateText(port.info.port_physical_state)},
          {"rate", port.IsUp() && port.number != 0 ? json(RateText(port.info))
                                                   : json()},
          {"cut", !port.cable_up},
          {"peer", std::move(peer)}};
}

json DescribeTables(const fabric::SwitchState& state) {
  json forwarding = json::array();
  const unsigned top = state.info.linear_fdb_top;
  for (unsigned lid = 0; lid <= top; ++lid) {
    forwarding.push_back(state.linear.Lookup(static_cast<wire::Lid>(lid)));
  }
  return {{"capacity", state.info.linear_fdb_cap},
          {"top", top},
          {"port_change", state.info.port_state_change},
          {"forwarding", std::move(forwarding)}};
}

}  // namespace

void HardwareMethods::AddTo(control::MethodTable& dispatcher) {
  dispatcher.Add("node.show",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return Show(parameters);
                 });
  dispatcher.Add("cable.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetCable(parameters);
                 });
  dispatcher.Add("lid.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetLid(parameters);
                 });
  dispatcher.Add("guid.set",
                 [this](control::Parameters& parameters, control::Caller&) {
                   return SetGuid(parameters);
                 });
}

absl::StatusOr<json> HardwareMethods::Show(
    control::Parameters& parameters) const {
  const std::string name = parameters.Text("node", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId id, fabric_.Find(name));
  const Subnet& subnet = std::as_const(fabric_).subnet();
  const fabric::Node& node = subnet.node(id);
  json ports = json::array();
  for (const NodePort& port : subnet.PortsOf(node)) {
    ports.push_back(DescribePort(subnet, port));
  }
  return json{{"name", node.name},
              {"description", node.description},
              {"type", NodeTypeText(node.type)},
              {"guid", GuidText(node.node_guid)},
              {"system_guid", GuidText(node.system_image_guid)},
              {"port_count", node.port_count},
              {"switch", node.is_switch() ? DescribeTables(*node.sw) : json()},
              {"ports", std::move(ports)}};
}

absl::StatusOr<json> HardwareMethods::SetCable(
    control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const auto port =
      static_cast<int>(parameters.Number("port", 0, 0, topology::kMaxPorts));
  const std::string peer_name = parameters.Text("peer", "");
  const auto peer_port = static_cast<int>(
      parameters.Number("peer_port", 0, 0, topology::kMaxPorts));
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
  IBEMU_ASSIGN_OR_RETURN(const NodeId peer, fabric_.Find(peer_name));
  IBEMU_RETURN_IF_ERROR(fabric_.Connect(node, port, peer, peer_port));
  return json::object();
}

absl::StatusOr<PortId> HardwareMethods::FindManaged(NodeId id,
                                                    int number) const {
  const fabric::Node& node = fabric_.subnet().node(id);
  if (!node.is_switch()) return fabric_.FindPort(id, number);
  if (number == 0) return node.first_port;
  return absl::InvalidArgumentError(absl::StrFormat(
      "port %d of \"%s\" has no LID of its own: a switch has one, that of its "
      "port 0",
      number, node.description));
}

absl::StatusOr<json> HardwareMethods::SetLid(control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const auto number =
      static_cast<int>(parameters.Number("port", 0, 0, topology::kMaxPorts));
  const int64_t lid = parameters.Number("lid", 0, 1, kLastUnicastLid);
  const int64_t lmc = parameters.Number("lmc", -1, -1, kMaxLmc);
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
  IBEMU_ASSIGN_OR_RETURN(const PortId id, FindManaged(node, number));
  fabric_.SetLid(id, static_cast<wire::Lid>(lid), static_cast<int>(lmc));
  fabric_.OnHardwareChange(id);
  return json::object();
}

absl::StatusOr<json> HardwareMethods::SetGuid(control::Parameters& parameters) {
  const std::string name = parameters.Text("node", "");
  const auto number =
      static_cast<int>(parameters.Number("port", -1, -1, topology::kMaxPorts));
  const std::string text = parameters.Text("guid", "");
  IBEMU_RETURN_IF_ERROR(parameters.Finish());
  uint64_t guid = 0;
  if (!absl::SimpleHexAtoi(text, &guid) || guid == 0) {
    return absl::InvalidArgumentError(absl::StrFormat(
        "\"%s\" is no GUID: write 1 to 16 hexadecimal digits, not all 0",
        text));
  }
  IBEMU_ASSIGN_OR_RETURN(const NodeId node, fabric_.Find(name));
  if (number < 0) {
    fabric::Node& changed = fabric_.subnet().node(node);
    changed.node_guid = wire::Guid{guid};
    fabric_.OnHardwareChange(
        fabric_.subnet().port_id(changed, changed.first_number()));
    return json::object();
  }
  IBEMU_ASSIGN_OR_RETURN(const PortId id, FindManaged(node, number));
  fabric_.subnet().port(id).guid = wire::Guid{guid};
  fabric_.OnHardwareChange(id);
  return json::object();
}

}  // namespace ibemu::daemon
