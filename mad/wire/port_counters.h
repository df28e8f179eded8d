// PortCounters and PortCountersExtended: IBA vol 1 §16.1.3.5 and §16.1.4.11.
#ifndef IBEMU_MAD_WIRE_PORT_COUNTERS_H_
#define IBEMU_MAD_WIRE_PORT_COUNTERS_H_

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// The offset of performance management data in a MAD (§16.1.1).
inline constexpr size_t kPerfDataOffset = 64;
inline constexpr size_t kPerfDataBytes = 192;
// The PortSelect of all ports at once, where ClassPortInfo allows it.
inline constexpr uint8_t kAllPorts = 0xff;

// The counters of a port.  They saturate.  Data is in units of 4 bytes.
struct PortCounters {
  static constexpr AttributeId kId = AttributeId::kPortCounters;
  static constexpr int kBits = 352;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint16_t symbol_error_counter = 0;
  uint8_t link_error_recovery_counter = 0;
  uint8_t link_downed_counter = 0;
  uint16_t port_rcv_errors = 0;
  uint16_t port_rcv_remote_physical_errors = 0;
  uint16_t port_rcv_switch_relay_errors = 0;
  uint16_t port_xmit_discards = 0;
  uint8_t port_xmit_constraint_errors = 0;
  uint8_t port_rcv_constraint_errors = 0;
  uint8_t counter_select2 = 0;
  uint8_t local_link_integrity_errors = 0;
  uint8_t excessive_buffer_overrun_errors = 0;
  uint16_t qp1_dropped = 0;
  uint16_t vl15_dropped = 0;
  uint32_t port_xmit_data = 0;
  uint32_t port_rcv_data = 0;
  uint32_t port_xmit_pkts = 0;
  uint32_t port_rcv_pkts = 0;
  uint32_t port_xmit_wait = 0;

  bool operator==(const PortCounters&) const = default;

  static constexpr auto Layout() {
    using T = PortCounters;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::symbol_error_counter, "SymbolErrorCounter", 16, 32),
        Rw(&T::link_error_recovery_counter, "LinkErrorRecoveryCounter", 8, 48),
        Rw(&T::link_downed_counter, "LinkDownedCounter", 8, 56),
        Rw(&T::port_rcv_errors, "PortRcvErrors", 16, 64),
        Rw(&T::port_rcv_remote_physical_errors, "PortRcvRemotePhysicalErrors",
           16, 80),
        Rw(&T::port_rcv_switch_relay_errors, "PortRcvSwitchRelayErrors", 16,
           96),
        Rw(&T::port_xmit_discards, "PortXmitDiscards", 16, 112),
        Rw(&T::port_xmit_constraint_errors, "PortXmitConstraintErrors", 8, 128),
        Rw(&T::port_rcv_constraint_errors, "PortRcvConstraintErrors", 8, 136),
        Rw(&T::counter_select2, "CounterSelect2", 8, 144),
        Rw(&T::local_link_integrity_errors, "LocalLinkIntegrityErrors", 4, 152),
        Rw(&T::excessive_buffer_overrun_errors, "ExcessiveBufferOverrunErrors",
           4, 156),
        Rw(&T::qp1_dropped, "QP1Dropped", 16, 160),
        Rw(&T::vl15_dropped, "VL15Dropped", 16, 176),
        Rw(&T::port_xmit_data, "PortXmitData", 32, 192),
        Rw(&T::port_rcv_data, "PortRcvData", 32, 224),
        Rw(&T::port_xmit_pkts, "PortXmitPkts", 32, 256),
        Rw(&T::port_rcv_pkts, "PortRcvPkts", 32, 288),
        Rw(&T::port_xmit_wait, "PortXmitWait", 32, 320));
  }
};
static_assert(wire::Tiles<PortCounters>());

// The 64-bit counters of a port.  Those after the multicast ones exist if
// ClassPortInfo's CapabilityMask2 says so.
struct PortCountersExtended {
  static constexpr AttributeId kId = AttributeId::kPortCountersExtended;
  static constexpr int kBits = 1472;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint32_t counter_select2 = 0;
  uint64_t port_xmit_data = 0;
  uint64_t port_rcv_data = 0;
  uint64_t port_xmit_pkts = 0;
  uint64_t port_rcv_pkts = 0;
  uint64_t port_unicast_xmit_pkts = 0;
  uint64_t port_unicast_rcv_pkts = 0;
  uint64_t port_multicast_xmit_pkts = 0;
  uint64_t port_multicast_rcv_pkts = 0;
  uint64_t symbol_error_counter = 0;
  uint64_t link_error_recovery_counter = 0;
  uint64_t link_downed_counter = 0;
  uint64_t port_rcv_errors = 0;
  uint64_t port_rcv_remote_physical_errors = 0;
  uint64_t port_rcv_switch_relay_errors = 0;
  uint64_t port_xmit_discards = 0;
  uint64_t port_xmit_constraint_errors = 0;
  uint64_t port_rcv_constraint_errors = 0;
  uint64_t local_link_integrity_errors = 0;
  uint64_t excessive_buffer_overrun_errors = 0;
  uint64_t vl15_dropped = 0;
  uint64_t port_xmit_wait = 0;
  uint64_t qp1_dropped = 0;

  bool operator==(const PortCountersExtended&) const = default;

  static constexpr auto Layout() {
    using T = PortCountersExtended;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counter_select2, "CounterSelect2", 32, 32),
        Rw(&T::port_xmit_data, "PortXmitData", 64, 64),
        Rw(&T::port_rcv_data, "PortRcvData", 64, 128),
        Rw(&T::port_xmit_pkts, "PortXmitPkts", 64, 192),
        Rw(&T::port_rcv_pkts, "PortRcvPkts", 64, 256),
        Rw(&T::port_unicast_xmit_pkts, "PortUnicastXmitPkts", 64, 320),
        Rw(&T::port_unicast_rcv_pkts, "PortUnicastRcvPkts", 64, 384),
        Rw(&T::port_multicast_xmit_pkts, "PortMulticastXmitPkts", 64, 448),
        Rw(&T::port_multicast_rcv_pkts, "PortMulticastRcvPkts", 64, 512),
        Rw(&T::symbol_error_counter, "SymbolErrorCounter", 64, 576),
        Rw(&T::link_error_recovery_counter, "LinkErrorRecoveryCounter", 64,
           640),
        Rw(&T::link_downed_counter, "LinkDownedCounter", 64, 704),
        Rw(&T::port_rcv_errors, "PortRcvErrors", 64, 768),
        Rw(&T::port_rcv_remote_physical_errors, "PortRcvRemotePhysicalErrors",
           64, 832),
        Rw(&T::port_rcv_switch_relay_errors, "PortRcvSwitchRelayErrors", 64,
           896),
        Rw(&T::port_xmit_discards, "PortXmitDiscards", 64, 960),
        Rw(&T::port_xmit_constraint_errors, "PortXmitConstraintErrors", 64,
           1024),
        Rw(&T::port_rcv_constraint_errors, "PortRcvConstraintErrors", 64, 1088),
        Rw(&T::local_link_integrity_errors, "LocalLinkIntegrityErrors", 64,
           1152),
        Rw(&T::excessive_buffer_overrun_errors, "ExcessiveBufferOverrunErrors",
           64, 1216),
        Rw(&T::vl15_dropped, "VL15Dropped", 64, 1280),
        Rw(&T::port_xmit_wait, "PortXmitWait", 64, 1344),
        Rw(&T::qp1_dropped, "QP1Dropped", 64, 1408));
  }
};
static_assert(wire::Tiles<PortCountersExtended>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_COUNTERS_H_
