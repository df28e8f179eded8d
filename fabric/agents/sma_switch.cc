#include "fabric/agents/sma_switch.h"

#include <algorithm>

#include "mad/wire/forwarding_tables.h"
#include "mad/wire/switch_info.h"

namespace ibemu::fabric {

using mad::MadStatus;

// SwitchInfo, §14.2.5.4.
MadStatus SmaSwitchInfo(const SmaRequest& request) {
  if (!request.node.is_switch()) return MadStatus::kUnsupportedAttribute;
  mad::SwitchInfo& current = request.node.sw->info;
  if (request.modifier != 0) return MadStatus::kInvalidField;
  if (request.set) {
    const auto wanted = request.Wanted<mad::SwitchInfo>();
    if (wanted.linear_fdb_top >= current.linear_fdb_cap) {
      return request.Answer(current, MadStatus::kInvalidField);
    }
    const bool change = current.port_state_change && !wanted.port_state_change;
    const uint8_t optimized = current.optimized_sl_to_vl_mapping;
    wire::CopyWritable(wanted, current);
    current.port_state_change = change;  // writing 1 clears it, 0 keeps it
    current.optimized_sl_to_vl_mapping = optimized;
  }
  return request.Answer(current);
}

// LinearForwardingTable, §14.2.5.10.
MadStatus SmaLinearForwardingTable(const SmaRequest& request) {
  if (!request.node.is_switch()) return MadStatus::kUnsupportedAttribute;
  SwitchState& state = *request.node.sw;
  const uint32_t block = request.modifier;
  if (block >= state.info.linear_fdb_cap / LinearTable::kBlockEntries) {
    return MadStatus::kInvalidField;
  }
  if (request.set) {
    state.linear.SetBlock(block,
                          request.Wanted<mad::LinearForwardingTable>().ports);
  }
  return request.Answer(
      mad::LinearForwardingTable{.ports = state.linear.block(block)});
}

// MulticastForwardingTable, §14.2.5.12.
MadStatus SmaMulticastForwardingTable(const SmaRequest& request) {
  constexpr uint32_t kBlockMask = 0x1ff, kPositionShift = 28;
  if (!request.node.is_switch()) return MadStatus::kUnsupportedAttribute;
  SwitchState& state = *request.node.sw;
  const uint32_t block = request.modifier & kBlockMask;
  const int position = static_cast<int>(request.modifier >> kPositionShift);
  const uint32_t others =
      request.modifier & ~(kBlockMask | 0xfu << kPositionShift);
  if (others != 0 ||
      block >= state.info.multicast_fdb_cap / MulticastTable::kBlockEntries ||
      position * MulticastTable::kPortsPerMask > request.node.port_count) {
    return MadStatus::kInvalidField;
  }
  if (request.set) {
    state.multicast.SetBlock(
        block, position,
        request.Wanted<mad::MulticastForwardingTable>().port_masks);
  }
  return request.Answer(mad::MulticastForwardingTable{
      .port_masks = state.multicast.block(block, position)});
}

}  // namespace ibemu::fabric
