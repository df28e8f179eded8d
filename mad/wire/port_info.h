// PortInfo: IBA vol 1 §14.2.5.6.
#ifndef IBEMU_MAD_WIRE_PORT_INFO_H_
#define IBEMU_MAD_WIRE_PORT_INFO_H_

#include "mad/wire/attribute_id.h"
#include "mad/wire/port_codes.h"
#include "wire/layout.h"
#include "wire/types.h"

namespace ibemu::mad {

// The state and limits of one port.  The attribute modifier is its number.
struct PortInfo {
  static constexpr AttributeId kId = AttributeId::kPortInfo;
  static constexpr int kBits = 512;

  uint64_t m_key = 0, gid_prefix = wire::kDefaultGidPrefix;
  wire::Lid lid{}, master_sm_lid{};
  uint32_t capability_mask = 0;  // bits: namespace capability
  uint16_t diag_code = 0;
  uint16_t m_key_lease_period = 0;  // seconds; 0 = never expires
  uint8_t local_port_num = 0;
  uint8_t link_width_enabled = 0, link_width_supported = 0;
  uint8_t link_width_active = 0;  // link_width::
  PortState port_state = PortState::kDown;
  PortPhysicalState port_physical_state = PortPhysicalState::kPolling;
  PortPhysicalState link_down_default_state = PortPhysicalState::kPolling;
  uint8_t m_key_protect_bits = 0;
  uint8_t lmc = 0;  // log2 of the number of LIDs
  uint8_t link_speed_supported = 0, link_speed_active = 0;
  uint8_t link_speed_enabled = 0;         // link_speed::
  uint8_t neighbor_mtu = 0, mtu_cap = 0;  // 1 = 256 ... 5 = 4096 bytes
  uint8_t master_sm_sl = 0;
  uint8_t vl_cap = 0, operational_vls = 0;  // 1: VL0; 2, 3, 4, 5: VL0 to VL1,
                                            // VL3, VL7, VL14
  uint8_t init_type = 0, init_type_reply = 0;
  uint8_t vl_high_limit = 0, vl_arbitration_high_cap = 0;
  uint8_t vl_arbitration_low_cap = 0;
  uint8_t vl_stall_count = 0, hoq_life = 0;
  bool partition_enforcement_inbound = false;
  bool partition_enforcement_outbound = false;
  bool filter_raw_inbound = false, filter_raw_outbound = false;
  uint16_t m_key_violations = 0, p_key_violations = 0, q_key_violations = 0;
  uint8_t guid_cap = 0;
  bool client_reregister = false;
  uint8_t multicast_p_key_trap_suppression = 0;
  uint8_t subnet_timeout = 0, resp_time_value = 0;  // 4.096 us * 2^n
  uint8_t local_phy_errors = 0, overrun_errors = 0;
  uint16_t max_credit_hint = 0;
  uint32_t link_round_trip_latency = 0;  // in units of 4 ns
  uint16_t capability_mask2 = 0;         // bits: namespace capability2
  uint8_t link_speed_ext_active = 0, link_speed_ext_supported = 0;
  uint8_t link_speed_ext_enabled = 0;  // link_speed_ext::
  uint8_t link_speed_ext_active2 = 0, link_speed_ext_supported2 = 0;
  uint8_t link_speed_ext_enabled2 = 0;  // link_speed_ext2::

  bool operator==(const PortInfo&) const = default;

  static constexpr auto Layout() {
    using T = PortInfo;
    using wire::Reserved, wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::m_key, "M_Key", 64, 0), Rw(&T::gid_prefix, "GidPrefix", 64, 64),
        Rw(&T::lid, "LID", 16, 128),
        Rw(&T::master_sm_lid, "MasterSMLID", 16, 144),
        Ro(&T::capability_mask, "CapabilityMask", 32, 160),
        Ro(&T::diag_code, "DiagCode", 16, 192),
        Rw(&T::m_key_lease_period, "M_KeyLeasePeriod", 16, 208),
        Ro(&T::local_port_num, "LocalPortNum", 8, 224),
        Rw(&T::link_width_enabled, "LinkWidthEnabled", 8, 232),
        Ro(&T::link_width_supported, "LinkWidthSupported", 8, 240),
        Ro(&T::link_width_active, "LinkWidthActive", 8, 248),
        Ro(&T::link_speed_supported, "LinkSpeedSupported", 4, 256),
        Rw(&T::port_state, "PortState", 4, 260),
        Rw(&T::port_physical_state, "PortPhysicalState", 4, 264),
        Rw(&T::link_down_default_state, "LinkDownDefaultState", 4, 268),
        Rw(&T::m_key_protect_bits, "M_KeyProtectBits", 2, 272),
        Reserved(3, 274), Rw(&T::lmc, "LMC", 3, 277),
        Ro(&T::link_speed_active, "LinkSpeedActive", 4, 280),
        Rw(&T::link_speed_enabled, "LinkSpeedEnabled", 4, 284),
        Rw(&T::neighbor_mtu, "NeighborMTU", 4, 288),
        Rw(&T::master_sm_sl, "MasterSMSL", 4, 292),
        Ro(&T::vl_cap, "VLCap", 4, 296), Rw(&T::init_type, "InitType", 4, 300),
        Rw(&T::vl_high_limit, "VLHighLimit", 8, 304),
        Ro(&T::vl_arbitration_high_cap, "VLArbitrationHighCap", 8, 312),
        Ro(&T::vl_arbitration_low_cap, "VLArbitrationLowCap", 8, 320),
        Ro(&T::init_type_reply, "InitTypeReply", 4, 328),
        Ro(&T::mtu_cap, "MTUCap", 4, 332),
        Rw(&T::vl_stall_count, "VLStallCount", 3, 336),
        Rw(&T::hoq_life, "HOQLife", 5, 339),
        Rw(&T::operational_vls, "OperationalVLs", 4, 344),
        Rw(&T::partition_enforcement_inbound, "PartitionEnforcementInbound", 1,
           348),
        Rw(&T::partition_enforcement_outbound, "PartitionEnforcementOutbound",
           1, 349),
        Rw(&T::filter_raw_inbound, "FilterRawInbound", 1, 350),
        Rw(&T::filter_raw_outbound, "FilterRawOutbound", 1, 351),
        Rw(&T::m_key_violations, "M_KeyViolations", 16, 352),
        Rw(&T::p_key_violations, "P_KeyViolations", 16, 368),
        Rw(&T::q_key_violations, "Q_KeyViolations", 16, 384),
        Ro(&T::guid_cap, "GUIDCap", 8, 400),
        Rw(&T::client_reregister, "ClientReregister", 1, 408),
        Rw(&T::multicast_p_key_trap_suppression,
           "MulticastPKeyTrapSuppressionEnabled", 2, 409),
        Rw(&T::subnet_timeout, "SubnetTimeOut", 5, 411), Reserved(3, 416),
        Ro(&T::resp_time_value, "RespTimeValue", 5, 419),
        Rw(&T::local_phy_errors, "LocalPhyErrors", 4, 424),
        Rw(&T::overrun_errors, "OverrunErrors", 4, 428),
        Ro(&T::max_credit_hint, "MaxCreditHint", 16, 432), Reserved(1, 448),
        Ro(&T::link_speed_ext_active2, "LinkSpeedExtActive2", 2, 449),
        Ro(&T::link_speed_ext_supported2, "LinkSpeedExtSupported2", 2, 451),
        Rw(&T::link_speed_ext_enabled2, "LinkSpeedExtEnabled2", 3, 453),
        Rw(&T::link_round_trip_latency, "LinkRoundTripLatency", 24, 456),
        Ro(&T::capability_mask2, "CapabilityMask2", 16, 480),
        Ro(&T::link_speed_ext_active, "LinkSpeedExtActive", 4, 496),
        Ro(&T::link_speed_ext_supported, "LinkSpeedExtSupported", 4, 500),
        Reserved(3, 504),
        Rw(&T::link_speed_ext_enabled, "LinkSpeedExtEnabled", 5, 507));
  }
};
static_assert(wire::Tiles<PortInfo>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_INFO_H_
