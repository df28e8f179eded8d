// Optional counters of one port as a whole: IBA vol 1 §16.1.4.
#ifndef IBEMU_MAD_WIRE_PORT_EVENT_COUNTERS_H_
#define IBEMU_MAD_WIRE_PORT_EVENT_COUNTERS_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// The parts of PortRcvErrors, and of PortRcvSwitchRelayErrors, by cause
// (§16.1.4.1).
struct PortRcvErrorDetails {
  static constexpr AttributeId kId = AttributeId::kPortRcvErrorDetails;
  static constexpr int kBits = 128;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint16_t port_local_physical_errors = 0;
  uint16_t port_malformed_packet_errors = 0;
  uint16_t port_buffer_overrun_errors = 0;
  uint16_t port_dlid_mapping_errors = 0;
  uint16_t port_vl_mapping_errors = 0;
  uint16_t port_looping_errors = 0;

  bool operator==(const PortRcvErrorDetails&) const = default;

  static constexpr auto Layout() {
    using T = PortRcvErrorDetails;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::port_local_physical_errors, "PortLocalPhysicalErrors", 16, 32),
        Rw(&T::port_malformed_packet_errors, "PortMalformedPktErrors", 16, 48),
        Rw(&T::port_buffer_overrun_errors, "PortBufferOverrunErrors", 16, 64),
        Rw(&T::port_dlid_mapping_errors, "PortDLIDMappingErrors", 16, 80),
        Rw(&T::port_vl_mapping_errors, "PortVLMappingErrors", 16, 96),
        Rw(&T::port_looping_errors, "PortLoopingErrors", 16, 112));
  }
};
static_assert(wire::Tiles<PortRcvErrorDetails>());

// The parts of PortXmitDiscards, by cause (§16.1.4.2).
struct PortXmitDiscardDetails {
  static constexpr AttributeId kId = AttributeId::kPortXmitDiscardDetails;
  static constexpr int kBits = 96;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint16_t port_inactive_discards = 0;
  uint16_t port_neighbor_mtu_discards = 0;
  uint16_t port_sw_lifetime_limit_discards = 0;
  uint16_t port_sw_hoq_lifetime_limit_discards = 0;

  bool operator==(const PortXmitDiscardDetails&) const = default;

  static constexpr auto Layout() {
    using T = PortXmitDiscardDetails;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::port_inactive_discards, "PortInactiveDiscards", 16, 32),
        Rw(&T::port_neighbor_mtu_discards, "PortNeighborMTUDiscards", 16, 48),
        Rw(&T::port_sw_lifetime_limit_discards, "PortSwLifetimeLimitDiscards",
           16, 64),
        Rw(&T::port_sw_hoq_lifetime_limit_discards,
           "PortSwHOQLifetimeLimitDiscards", 16, 80));
  }
};
static_assert(wire::Tiles<PortXmitDiscardDetails>());

// The counters of received packets; OpCode selects the packets that count.
struct PortOpRcvCounters {
  static constexpr AttributeId kId = AttributeId::kPortOpRcvCounters;
  static constexpr int kBits = 96;

  uint8_t op_code = 0;
  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint32_t port_op_rcv_pkts = 0;
  uint32_t port_op_rcv_data = 0;

  bool operator==(const PortOpRcvCounters&) const = default;

  static constexpr auto Layout() {
    using T = PortOpRcvCounters;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::op_code, "OpCode", 8, 0),
        Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::port_op_rcv_pkts, "PortOpRcvPkts", 32, 32),
        Rw(&T::port_op_rcv_data, "PortOpRcvData", 32, 64));
  }
};
static_assert(wire::Tiles<PortOpRcvCounters>());

// The packets of flow control that the port has sent and received.
struct PortFlowCtlCounters {
  static constexpr AttributeId kId = AttributeId::kPortFlowCtlCounters;
  static constexpr int kBits = 96;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint32_t port_xmit_flow_pkts = 0;
  uint32_t port_rcv_flow_pkts = 0;

  bool operator==(const PortFlowCtlCounters&) const = default;

  static constexpr auto Layout() {
    using T = PortFlowCtlCounters;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::port_xmit_flow_pkts, "PortXmitFlowPkts", 32, 32),
        Rw(&T::port_rcv_flow_pkts, "PortRcvFlowPkts", 32, 64));
  }
};
static_assert(wire::Tiles<PortFlowCtlCounters>());

// Counters of the lanes of links at FDR and above.
struct PortExtendedSpeedsCounters {
  static constexpr AttributeId kId = AttributeId::kPortExtendedSpeedsCounters;
  static constexpr int kBits = 1216;

  uint8_t port_select = 0;
  uint64_t counter_select = 0;
  uint16_t sync_header_error_counter = 0;
  uint16_t unknown_block_counter = 0;
  std::array<uint16_t, 12> error_detection_counter_lane{};
  std::array<uint32_t, 12> fec_correctable_block_counter_lane{};
  std::array<uint32_t, 12> fec_uncorrectable_block_counter_lane{};
  uint32_t port_fec_correctable_block_counter = 0;
  uint32_t port_fec_uncorrectable_block_counter = 0;
  uint32_t port_fec_corrected_symbol_counter = 0;

  bool operator==(const PortExtendedSpeedsCounters&) const = default;

  static constexpr auto Layout() {
    using T = PortExtendedSpeedsCounters;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Reserved(48, 16), Rw(&T::counter_select, "CounterSelect", 64, 64),
        Rw(&T::sync_header_error_counter, "SyncHeaderErrorCounter", 16, 128),
        Rw(&T::unknown_block_counter, "UnknownBlockCounter", 16, 144),
        Rw(&T::error_detection_counter_lane, "ErrorDetectionCounterLane", 192,
           160),
        Rw(&T::fec_correctable_block_counter_lane, "FECCorrectableBlockCtrLane",
           384, 352),
        Rw(&T::fec_uncorrectable_block_counter_lane,
           "FECUncorrectableBlockCtrLane", 384, 736),
        Rw(&T::port_fec_correctable_block_counter, "PortFECCorrectableBlockCtr",
           32, 1120),
        Rw(&T::port_fec_uncorrectable_block_counter,
           "PortFECUncorrectableBlockCtr", 32, 1152),
        Rw(&T::port_fec_corrected_symbol_counter, "PortFECCorrectedSymbolCtr",
           32, 1184));
  }
};
static_assert(wire::Tiles<PortExtendedSpeedsCounters>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_EVENT_COUNTERS_H_
