#include "fabric/subnet/subnet.h"

#include "absl/strings/str_format.h"
#include "fabric/subnet/link_rate.h"
#include "mad/wire/port_codes.h"
#include "topology/rate_text.h"

namespace ibemu::fabric {
namespace {

namespace capability = mad::capability;
namespace capability2 = mad::capability2;
using mad::PortPhysicalState, mad::PortState;

constexpr uint8_t kMtu4096 = 5;
constexpr uint8_t kVl0To7 = 4;
constexpr uint16_t kLinearEntries = 0xc000;
constexpr uint16_t kMulticastEntries = 0x1000;
constexpr uint8_t kInfiniteLifeTime = 20;

constexpr uint32_t kEveryPort =
    capability::kNotice | capability::kTrap | capability::kLedInfo |
    capability::kLinkSpeedWidthPairsTable | capability::kSlMapping |
    capability::kSystemImageGuid | capability::kVendorClass |
    capability::kCapabilityMaskNotice | capability::kClientReregistration |
    capability::kOtherLocalChangesNotice;
constexpr uint32_t kSwitchPort0 =
    kEveryPort | capability::kPKeySwitchExternalPortTrap;
constexpr uint32_t kEndPort = kEveryPort | capability::kAutomaticMigration |
                              capability::kCommunicationManagement;

void SetSupported(NodePort& port, const topology::LinkRate& rate) {
  port.info.link_width_supported = rate.width;
  port.info.link_speed_supported = rate.speed;
  port.info.link_speed_ext_supported = rate.speed_ext;
  port.info.link_speed_ext_supported2 = rate.speed_ext2;
}

uint16_t RateCapabilities(const mad::PortInfo& info) {
  const auto has = [](uint8_t mask, uint8_t bit) { return (mask & bit) != 0; };
  uint16_t mask = 0;
  if (has(info.link_width_supported, mad::link_width::k2x)) {
    mask |= capability2::kLinkWidth2x;
  }
  if (has(info.link_speed_ext_supported, mad::link_speed_ext::kHdr)) {
    mask |= capability2::kLinkSpeedHdr;
  }
  if (has(info.link_speed_ext_supported, mad::link_speed_ext::kNdr)) {
    mask |= capability2::kLinkSpeedNdr;
  }
  if (info.link_speed_ext_supported2 != 0) {
    mask |= capability2::kExtendedSpeeds2 | capability2::kLinkSpeedXdr;
  }
  return mask;
}

// Returns the PortInfo after power-on.  What a port supports stays, and so does
// the IsSM bit of a program on its host; everything else is reset.
mad::PortInfo PowerOnPortInfo(const Node& node, const NodePort& port) {
  mad::PortInfo info;
  info.local_port_num = port.number;
  const bool end_port = !node.is_switch() || port.number == 0;
  if (end_port) {
    info.capability_mask = node.is_switch() ? kSwitchPort0 : kEndPort;
    info.guid_cap = kGuidTableEntries;
  } else {
    info.gid_prefix = 0;  // only end ports have it
  }
  info.link_width_supported = port.info.link_width_supported;
  info.link_speed_supported = port.info.link_speed_supported;
  info.link_speed_ext_supported = port.info.link_speed_ext_supported;
  info.link_speed_ext_supported2 = port.info.link_speed_ext_supported2;
  info.link_width_enabled = info.link_width_supported;
  info.link_speed_enabled = info.link_speed_supported;
  info.link_speed_ext_enabled = info.link_speed_ext_supported;
  info.link_speed_ext_enabled2 = info.link_speed_ext_supported2;
  SetDownRate(info);
  info.capability_mask |= capability::kCapabilityMask2;
  if (info.link_speed_ext_supported != 0) {
    info.capability_mask |= capability::kExtendedSpeeds;
  }
  info.capability_mask |= port.info.capability_mask & capability::kIsSm;
  info.capability_mask2 =
      capability2::kSetNodeDescription | RateCapabilities(info);
  info.mtu_cap = info.neighbor_mtu = kMtu4096;
  info.vl_cap = kVl0To7;
  info.operational_vls = info.vl_cap;  // otherwise OpenSM resets the links
  info.vl_arbitration_high_cap = info.vl_arbitration_low_cap = 8;
  info.subnet_timeout = 18;
  info.resp_time_value = 16;
  info.local_phy_errors = info.overrun_errors = 8;
  if (node.is_switch() && port.number == 0) {
    // Port 0 has no link.  A base port 0 does not have logical states either,
    // and shows ACTIVE.
    info.port_physical_state = PortPhysicalState::kLinkUp;
    info.port_state =
        node.sw->info.enhanced_port_0 ? PortState::kInit : PortState::kActive;
  }
  return info;
}

mad::SwitchInfo PowerOnSwitchInfo(bool enhanced_port_0) {
  mad::SwitchInfo info;
  info.linear_fdb_cap = kLinearEntries;
  info.multicast_fdb_cap = kMulticastEntries;
  info.default_multicast_primary_port = LinearTable::kNoPort;
  info.default_multicast_not_primary_port = LinearTable::kNoPort;
  info.life_time_value = kInfiniteLifeTime;
  info.optimized_sl_to_vl_mapping = 1;
  info.partition_enforcement_cap = kSwitchPKeyTableEntries;
  info.inbound_enforcement_cap = info.outbound_enforcement_cap = true;
  info.filter_raw_inbound_cap = info.filter_raw_outbound_cap = true;
  info.enhanced_port_0 = enhanced_port_0;
  return info;
}

wire::Guid PortGuid(const topology::NodeSpec& spec, int number) {
  const bool is_switch = spec.type == mad::NodeType::kSwitch;
  const auto index = static_cast<size_t>(is_switch ? 0 : number - 1);
  if (index < spec.port_guids.size()) return spec.port_guids[index];
  const auto offset = static_cast<uint64_t>(is_switch ? 0 : number);
  return wire::Guid{static_cast<uint64_t>(spec.node_guid) + offset};
}

}  // namespace

Subnet::Subnet(const topology::Topology& topology)
    : addresses_(topology.addresses) {
  size_t port_total = 0;
  for (const topology::NodeSpec& spec : topology.nodes) {
    port_total += static_cast<size_t>(spec.port_count) +
                  (spec.type == mad::NodeType::kSwitch ? 1 : 0);
  }
  nodes_.reserve(topology.nodes.size());
  ports_.reserve(port_total);
  for (const topology::NodeSpec& spec : topology.nodes) AddNode(spec);
  for (const topology::LinkSpec& spec : topology.links) {
    NodePort& a = port(port_id(spec.a, spec.port_a));
    NodePort& b = port(port_id(spec.b, spec.port_b));
    a.peer = port_id(spec.b, spec.port_b);
    b.peer = port_id(spec.a, spec.port_a);
    SetSupported(a, spec.rate);
    SetSupported(b, spec.rate);
    a.cable_up = b.cable_up = !spec.down;
  }
  for (const Node& node : nodes_) EquipFreePorts(node);
  for (Node& node : nodes_) Reset(node);
}

void Subnet::AddNode(const topology::NodeSpec& spec) {
  Node& node = nodes_.emplace_back();
  node.type = spec.type;
  node.port_count = static_cast<uint8_t>(spec.port_count);
  node.device_id = spec.device_id;
  node.vendor_id = spec.vendor_id;
  node.node_guid = spec.node_guid;
  node.system_image_guid = spec.system_image_guid == wire::Guid{}
                               ? spec.node_guid
                               : spec.system_image_guid;
  node.description = spec.description.substr(0, 64);
  node.name = spec.name;
  node.label = spec.label;
  node.limits = spec.limits;
  if (spec.type == mad::NodeType::kSwitch) {
    node.sw = std::make_unique<SwitchState>();
    node.sw->info.enhanced_port_0 = spec.enhanced_port_0;
  }
  const int first = node.first_number();
  node.first_port = PortId{static_cast<uint32_t>(ports_.size()) -
                           static_cast<uint32_t>(first)};
  for (int number = first; number <= spec.port_count; ++number) {
    NodePort& port = ports_.emplace_back();
    port.node = topology::NodeId{static_cast<uint32_t>(nodes_.size() - 1)};
    port.number = static_cast<uint8_t>(number);
    port.guid = PortGuid(spec, number);
  }
}

void Subnet::EquipFreePorts(const Node& node) {
  topology::LinkRate best;
  for (const NodePort& port : PortsOf(node)) {
    if (port.peer == kNoPort) continue;
    best.width |= port.info.link_width_supported;
    best.speed |= port.info.link_speed_supported;
    best.speed_ext |= port.info.link_speed_ext_supported;
    best.speed_ext2 |= port.info.link_speed_ext_supported2;
  }
  if (best.width == 0) best = topology::DefaultLinkRate();
  for (NodePort& port : PortsOf(node)) {
    if (port.peer == kNoPort) SetSupported(port, best);
  }
}

void Subnet::ResetNode(topology::NodeId id) { Reset(node(id)); }

void Subnet::Reset(Node& node) {
  if (node.is_switch()) {
    const bool enhanced_port_0 = node.sw->info.enhanced_port_0;
    *node.sw = SwitchState{};
    node.sw->info = PowerOnSwitchInfo(enhanced_port_0);
  }
  for (NodePort& port : PortsOf(node)) {
    port.tables.reset();
    port.has_usual_weights = false;
    port.info = PowerOnPortInfo(node, port);
  }
}

std::string Subnet::PortName(PortId id) const {
  return absl::StrFormat("%s port %d", NodeOf(id).description, port(id).number);
}

}  // namespace ibemu::fabric
