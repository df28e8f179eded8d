#include "daemon/adapters/hca_status.h"

#include <utility>

#include "daemon/subnet/fabric_methods.h"
#include "daemon/words/port_text.h"
#include "nlohmann/json.hpp"

namespace ibemu::daemon {
namespace {

using nlohmann::json;

json DescribeHcaPort(const HcaView& adapter, int number) {
  const mad::PortInfo info = InfoOf(adapter, number);
  return {{"port", number},
          {"guid", GuidText(PortGuidOf(adapter, number))},
          {"state", PortStateText(info.port_state)},
          {"physical_state", PhysicalStateText(info.port_physical_state)},
          {"lid", static_cast<unsigned>(info.lid)},
          {"sm_lid", static_cast<unsigned>(info.master_sm_lid)},
          {"rate", info.port_state == mad::PortState::kDown
                       ? json()
                       : json(RateText(info))}};
}

}  // namespace

mad::PortInfo InfoOf(const HcaView& adapter, int number) {
  mad::PortInfo info = adapter.device.port(number).Info();
  if (adapter.alive) return info;
  info.port_state = mad::PortState::kDown;
  info.port_physical_state =
      mad::PortPhysicalState::kNoChange;  // means unknown here
  return info;
}

wire::Guid PortGuidOf(const HcaView& adapter, int number) {
  return wire::Guid{adapter.device.port(number).GidAt(0).interface_id};
}

json DescribeHca(const HcaView& adapter) {
  const hca::DrivenAdapter& device = adapter.device;
  json ports = json::array();
  for (int port = device.first_port(); port <= device.last_port(); ++port) {
    ports.push_back(DescribeHcaPort(adapter, port));
  }
  const mad::DeviceLabel& label = *device.label();
  const absl::Status& dead = device.dead();
  return {{"adapter", adapter.name},
          {"device", device.product()},
          {"board_id", label.board_id},
          {"firmware", label.firmware},
          {"hardware", label.hardware},
          {"node", device.node_description()},
          {"node_guid", GuidText(device.node_guid())},
          {"alive", adapter.alive},
          {"error", dead.ok() ? json() : json(std::string(dead.message()))},
          {"ports", std::move(ports)}};
}

}  // namespace ibemu::daemon
