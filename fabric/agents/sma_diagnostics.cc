#include "fabric/agents/sma_diagnostics.h"

#include <algorithm>
#include <string_view>

#include "mad/wire/mellanox.h"
#include "mad/wire/port_diagnostics.h"

namespace ibemu::fabric {

using mad::MadStatus;

namespace {

// Returns true for nodes that OpenSM asks for ExtendedPortInfo; it decides by
// the vendor id or the device id.
bool IsMellanox(const Node& node) {
  constexpr uint32_t kMellanox = 0x2c9, kBull = 0x119f;
  const uint16_t id = node.device_id;
  return node.vendor_id == kMellanox || node.vendor_id == kBull ||
         (id >= 0x1003 && id <= 0x101b) || (id >= 0xc738 && id <= 0xc73b) ||
         id == 0xc839 || id == 0xcb20 || id == 0xcf08 || id == 0xcf09 ||
         id == 0xd2f0 || id == 0xa2d2;
}

// Returns the port that the modifier names, as in PortInfo.
NodePort* NamedPort(const SmaRequest& request) {
  const int number = static_cast<int>(request.modifier & 0xff);
  if (number == 0) return &request.port;
  if (!request.subnet.has_port(request.node, number)) return nullptr;
  return &request.subnet.port(request.subnet.port_id(request.node, number));
}

}  // namespace

// VendorDiag, §14.2.5.14: one page, with nothing to report.
MadStatus SmaVendorDiag(const SmaRequest& request) {
  if (request.set) return MadStatus::kUnsupportedAttribute;
  if (request.modifier != 0) return MadStatus::kInvalidField;
  return request.Answer(mad::VendorDiag{});
}

// LedInfo, §14.2.5.15.
MadStatus SmaLedInfo(const SmaRequest& request) {
  NodePort* const port = NamedPort(request);
  if (port == nullptr) return MadStatus::kInvalidField;
  if (request.set) {
    port->Tables().led_on = request.Wanted<mad::LedInfo>().led_mask;
  }
  const bool on = port->tables && port->tables->led_on;
  return request.Answer(mad::LedInfo{.led_mask = on});
}

// All ports of a node have the same capabilities: each width at each basic
// speed.
MadStatus SmaLinkSpeedWidthPairsTable(const SmaRequest& request) {
  if (request.set) return MadStatus::kUnsupportedAttribute;
  if (request.modifier != 0) return MadStatus::kInvalidField;
  const auto ports = request.subnet.PortsOf(request.node);
  const mad::PortInfo& info = ports.back().info;
  const auto widths = [&](uint8_t speed) -> uint8_t {
    return (info.link_speed_supported & speed) != 0 ? info.link_width_supported
                                                    : 0;
  };
  mad::LinkSpeedWidthPairsTable table;
  table.num_tables = 1;
  // Port 0 is the last bit of the mask.
  for (const NodePort& port : ports) {
    table.port_mask[table.port_mask.size() - 1 - port.number / 8u] |=
        std::byte{1} << (port.number % 8);
  }
  table.speed_2_5 = widths(mad::link_speed::kSdr);
  table.speed_5 = widths(mad::link_speed::kDdr);
  table.speed_10 = widths(mad::link_speed::kQdr);
  return request.Answer(table);
}

// No port supports FDR10.
MadStatus SmaMellanoxExtendedPortInfo(const SmaRequest& request) {
  if (!IsMellanox(request.node)) return MadStatus::kUnsupportedAttribute;
  const mad::MellanoxExtendedPortInfo none;
  if (NamedPort(request) == nullptr) return MadStatus::kInvalidField;
  if (request.set) {
    const auto wanted = request.Wanted<mad::MellanoxExtendedPortInfo>();
    if (wanted.state_change_enable != 0 && wanted.link_speed_enabled != 0) {
      return request.Answer(none, MadStatus::kInvalidField);
    }
  }
  return request.Answer(none);
}

MadStatus SmaMellanoxGeneralInfo(const SmaRequest& request) {
  constexpr std::string_view kPsid = "IBEMU";
  if (!IsMellanox(request.node) || request.set) {
    return MadStatus::kUnsupportedAttribute;
  }
  mad::MellanoxGeneralInfo info;
  info.hardware_revision = static_cast<uint16_t>(request.node.revision);
  info.device_id = request.node.device_id;
  info.firmware_major = 1;
  std::copy(kPsid.begin(), kPsid.end(), info.psid.begin());
  return request.Answer(info);
}

}  // namespace ibemu::fabric
