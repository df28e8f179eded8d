// SwitchInfo: IBA vol 1 §14.2.5.4.
#ifndef IBEMU_MAD_WIRE_SWITCH_INFO_H_
#define IBEMU_MAD_WIRE_SWITCH_INFO_H_

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// The limits and settings of a switch.  Other nodes have none.
struct SwitchInfo {
  static constexpr AttributeId kId = AttributeId::kSwitchInfo;
  static constexpr int kBits = 160;

  uint16_t linear_fdb_cap = 0;     // entries from LID 0
  uint16_t random_fdb_cap = 0;     // entries
  uint16_t multicast_fdb_cap = 0;  // entries from LID 0xc000
  uint16_t linear_fdb_top = 0;     // highest LID that is forwarded
  uint8_t default_port = 0;
  uint8_t default_multicast_primary_port = 0;
  uint8_t default_multicast_not_primary_port = 0;
  uint8_t life_time_value = 0;     // 4.096 us * 2^n, more than 19: infinite
  bool port_state_change = false;  // writing 1 clears it
  uint8_t optimized_sl_to_vl_mapping = 0;
  uint16_t lids_per_port = 0;
  uint16_t partition_enforcement_cap = 0;
  bool inbound_enforcement_cap = false;
  bool outbound_enforcement_cap = false;
  bool filter_raw_inbound_cap = false;
  bool filter_raw_outbound_cap = false;
  bool enhanced_port_0 = false;
  uint16_t multicast_fdb_top = 0;  // 0: no limit; 0xbfff: no multicast

  bool operator==(const SwitchInfo&) const = default;

  static constexpr auto Layout() {
    using T = SwitchInfo;
    using wire::Reserved, wire::Ro, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Ro(&T::linear_fdb_cap, "LinearFDBCap", 16, 0),
        Ro(&T::random_fdb_cap, "RandomFDBCap", 16, 16),
        Ro(&T::multicast_fdb_cap, "MulticastFDBCap", 16, 32),
        Rw(&T::linear_fdb_top, "LinearFDBTop", 16, 48),
        Rw(&T::default_port, "DefaultPort", 8, 64),
        Rw(&T::default_multicast_primary_port, "DefaultMulticastPrimaryPort", 8,
           72),
        Rw(&T::default_multicast_not_primary_port,
           "DefaultMulticastNotPrimaryPort", 8, 80),
        Rw(&T::life_time_value, "LifeTimeValue", 5, 88),
        Rw(&T::port_state_change, "PortStateChange", 1, 93),
        Rw(&T::optimized_sl_to_vl_mapping, "OptimizedSLtoVLMappingProgramming",
           2, 94),
        Ro(&T::lids_per_port, "LIDsPerPort", 16, 96),
        Ro(&T::partition_enforcement_cap, "PartitionEnforcementCap", 16, 112),
        Ro(&T::inbound_enforcement_cap, "InboundEnforcementCap", 1, 128),
        Ro(&T::outbound_enforcement_cap, "OutboundEnforcementCap", 1, 129),
        Ro(&T::filter_raw_inbound_cap, "FilterRawInboundCap", 1, 130),
        Ro(&T::filter_raw_outbound_cap, "FilterRawOutboundCap", 1, 131),
        Ro(&T::enhanced_port_0, "EnhancedPort0", 1, 132), Reserved(11, 133),
        Rw(&T::multicast_fdb_top, "MulticastFDBTop", 16, 144));
  }
};
static_assert(wire::Tiles<SwitchInfo>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_SWITCH_INFO_H_
