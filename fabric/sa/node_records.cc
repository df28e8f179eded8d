#include "fabric/sa/node_records.h"

#include <algorithm>

#include "fabric/sa/port_scan.h"
#include "mad/wire/port_codes.h"
#include "mad/wire/sa_records.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::kComponentBit, mad::LinkRecord, mad::NodeRecord,
    mad::PortInfo, mad::PortInfoRecord, mad::SwitchInfoRecord;

void AddNodeRecord(const PortQuery<NodeRecord>& query) {
  const Node& node = query.node;
  if (node.is_switch() && query.port.number != 0) return;
  NodeRecord record;
  record.lid = query.lid;
  record.node_info = {
      .node_type = node.type,
      .num_ports = node.port_count,
      .system_image_guid = node.system_image_guid,
      .node_guid = node.node_guid,
      .port_guid = query.port.guid,
      .partition_cap = static_cast<uint16_t>(node.p_key_entries()),
      .device_id = node.device_id,
      .revision = node.revision,
      .local_port_num = query.port.number,
      .vendor_id = node.vendor_id};
  auto& text = record.node_description.text;
  std::copy_n(node.description.begin(),
              std::min(node.description.size(), text.size()), text.begin());
  query.Offer(record);
}

// Compares the capabilities if bit 31 of the modifier asks for ports that have
// at least the wanted ones, and removes them from `mask`.  Without that bit
// they are compared like other components, which have to be equal.
bool HasCapabilities(const PortQuery<PortInfoRecord>& query,
                     const PortInfo& info, uint64_t& mask) {
  constexpr uint32_t kAtLeast = 1u << 31;
  constexpr uint64_t kMask =
      mad::kInnerComponentBit<&PortInfoRecord::port_info,
                              &PortInfo::capability_mask>;
  constexpr uint64_t kMask2 =
      mad::kInnerComponentBit<&PortInfoRecord::port_info,
                              &PortInfo::capability_mask2>;
  if ((query.modifier & kAtLeast) == 0) return true;
  const PortInfo& wanted = query.wanted.port_info;
  if (query.Asks(kMask) && (wanted.capability_mask & ~info.capability_mask)) {
    return false;
  }
  if (query.Asks(kMask2) &&
      (wanted.capability_mask2 & ~info.capability_mask2)) {
    return false;
  }
  mask &= ~(kMask | kMask2);
  return true;
}

void AddPortInfoRecord(const PortQuery<PortInfoRecord>& query) {
  constexpr uint8_t kAsItIs = 0x80;  // Options
  PortInfoRecord record;
  record.lid = query.lid;
  record.port_num = query.port.number;
  record.options = query.wanted.options;
  PortInfo& info = record.port_info;
  info = query.port.info;
  if (!query.trusted) info.m_key = 0;
  const bool as_it_is = query.Asks(kComponentBit<&PortInfoRecord::options>) &&
                        (record.options & kAsItIs) != 0;
  if (!query.Asks(kComponentBit<&PortInfoRecord::options>)) record.options = 0;
  if (!as_it_is && info.link_speed_ext_active != 0) {
    // For clients without extended speeds, the record shows the fastest basic
    // speed.
    info.link_speed_supported |= mad::link_speed::kQdr;
    info.link_speed_enabled |= mad::link_speed::kQdr;
    info.link_speed_active |= mad::link_speed::kQdr;
  }
  uint64_t mask = query.mask;
  if (HasCapabilities(query, info, mask) &&
      mad::MatchesComponents(query.wanted, record, mask)) {
    query.records.Add(record);
  }
}

void AddSwitchInfoRecord(const PortQuery<SwitchInfoRecord>& query) {
  if (!IsSwitchPort0(query)) return;
  query.Offer({.lid = query.lid, .switch_info = query.node.sw->info});
}

void AddLinkRecord(const PortQuery<LinkRecord>& query) {
  const NodePort& from = query.port;
  if (from.peer == kNoPort || !from.IsUp()) return;
  const NodePort& to = query.subnet.port(from.peer);
  query.Offer({.from_lid = query.lid,
               .from_port = from.number,
               .to_port = to.number,
               .to_lid = query.directory.LidOf(from.peer)});
}

}  // namespace

std::unique_ptr<RecordSource> NodeRecords(const Directory& directory,
                                          const SaRequest& request) {
  switch (request.header.mad.attr_id) {
    case AttributeId::kNodeRecord:
      return Scan<NodeRecord, AddNodeRecord>(directory, request);
    case AttributeId::kPortInfoRecord:
      return Scan<PortInfoRecord, AddPortInfoRecord>(directory, request);
    case AttributeId::kSwitchInfoRecord:
      return Scan<SwitchInfoRecord, AddSwitchInfoRecord>(directory, request);
    case AttributeId::kLinkRecord:
      return Scan<LinkRecord, AddLinkRecord>(directory, request);
    default:
      return nullptr;
  }
}

}  // namespace ibemu::fabric
