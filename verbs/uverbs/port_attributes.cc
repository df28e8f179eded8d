#include "verbs/uverbs/port_attributes.h"

namespace ibemu::verbs {
namespace {

// enum ib_port_speed of the Linux kernel; XDR (256) does not fit QUERY_PORT's
// eight bits.
uint8_t SpeedCode(const mad::PortInfo& info) {
  constexpr uint8_t kFdr = 16, kEdr = 32, kHdr = 64, kNdr = 128;
  if (info.link_speed_ext_active2 != 0) return kNdr;
  switch (info.link_speed_ext_active) {
    case mad::link_speed_ext::kFdr:
      return kFdr;
    case mad::link_speed_ext::kEdr:
      return kEdr;
    case mad::link_speed_ext::kHdr:
      return kHdr;
    case mad::link_speed_ext::kNdr:
      return kNdr;
    default:
      return info.link_speed_active;
  }
}

}  // namespace

PortAttributes PortAttributesOf(const mad::PortInfo& info,
                                const PortLimits& limits) {
  constexpr uint8_t kInfiniBand = 1;  // IB_LINK_LAYER_INFINIBAND
  PortAttributes result{};
  result.port_cap_flags = info.capability_mask;
  result.max_msg_sz = limits.max_message;
  result.bad_pkey_cntr = info.p_key_violations;
  result.qkey_viol_cntr = info.q_key_violations;
  result.gid_tbl_len = static_cast<uint32_t>(limits.gids);
  result.pkey_tbl_len = static_cast<uint16_t>(limits.p_keys);
  result.lid = static_cast<uint16_t>(info.lid);
  result.sm_lid = static_cast<uint16_t>(info.master_sm_lid);
  result.state = static_cast<uint8_t>(info.port_state);
  result.max_mtu = info.mtu_cap;
  result.active_mtu = info.neighbor_mtu;
  result.lmc = info.lmc;
  result.max_vl_num = info.vl_cap;
  result.sm_sl = info.master_sm_sl;
  result.subnet_timeout = info.subnet_timeout;
  result.init_type_reply = info.init_type_reply;
  result.active_width = info.link_width_active;
  result.active_speed = SpeedCode(info);
  result.phys_state = static_cast<uint8_t>(info.port_physical_state);
  result.link_layer = kInfiniBand;
  return result;
}

}  // namespace ibemu::verbs
