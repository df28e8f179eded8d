// Optional counters by virtual lane or service level: IBA vol 1 §16.1.4, annex
// A10 and A13.
#ifndef IBEMU_MAD_WIRE_PORT_LANE_COUNTERS_H_
#define IBEMU_MAD_WIRE_PORT_LANE_COUNTERS_H_

#include <array>

#include "mad/wire/attribute_id.h"
#include "wire/layout.h"

namespace ibemu::mad {

// The packets on each VL; OpCode selects the packets that count.
struct PortVlOpPackets {
  static constexpr AttributeId kId = AttributeId::kPortVlOpPackets;
  static constexpr int kBits = 288;

  uint8_t op_code = 0;
  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint16_t, 16> counters{};

  bool operator==(const PortVlOpPackets&) const = default;

  static constexpr auto Layout() {
    using T = PortVlOpPackets;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::op_code, "OpCode", 8, 0),
        Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortVLOpPackets", 256, 32));
  }
};
static_assert(wire::Tiles<PortVlOpPackets>());

// The data on each VL; OpCode selects the packets that count.
struct PortVlOpData {
  static constexpr AttributeId kId = AttributeId::kPortVlOpData;
  static constexpr int kBits = 544;

  uint8_t op_code = 0;
  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint32_t, 16> counters{};

  bool operator==(const PortVlOpData&) const = default;

  static constexpr auto Layout() {
    using T = PortVlOpData;
    using wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Rw(&T::op_code, "OpCode", 8, 0),
        Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortVLOpData", 512, 32));
  }
};
static_assert(wire::Tiles<PortVlOpData>());

// The errors of flow control on each VL, in counters of two bits.
struct PortVlXmitFlowCtlUpdateErrors {
  static constexpr AttributeId kId =
      AttributeId::kPortVlXmitFlowCtlUpdateErrors;
  static constexpr int kBits = 64;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint8_t, 16> counters{};

  bool operator==(const PortVlXmitFlowCtlUpdateErrors&) const = default;

  static constexpr auto Layout() {
    using T = PortVlXmitFlowCtlUpdateErrors;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortVLXmitFlowCtlUpdateErrors", 32, 32));
  }
};
static_assert(wire::Tiles<PortVlXmitFlowCtlUpdateErrors>());

// The ticks in which each VL had something to send and could not.
struct PortVlXmitWaitCounters {
  static constexpr AttributeId kId = AttributeId::kPortVlXmitWaitCounters;
  static constexpr int kBits = 288;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint16_t, 16> counters{};

  bool operator==(const PortVlXmitWaitCounters&) const = default;

  static constexpr auto Layout() {
    using T = PortVlXmitWaitCounters;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortVLXmitWait", 256, 32));
  }
};
static_assert(wire::Tiles<PortVlXmitWaitCounters>());

// The congestion of each VL of a switch's port.
struct SwPortVlCongestion {
  static constexpr AttributeId kId = AttributeId::kSwPortVlCongestion;
  static constexpr int kBits = 288;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint16_t, 16> counters{};

  bool operator==(const SwPortVlCongestion&) const = default;

  static constexpr auto Layout() {
    using T = SwPortVlCongestion;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "SWPortVLCongestion", 256, 32));
  }
};
static_assert(wire::Tiles<SwPortVlCongestion>());

// The packets received with a FECN and with a BECN.
struct PortRcvConCtrl {
  static constexpr AttributeId kId = AttributeId::kPortRcvConCtrl;
  static constexpr int kBits = 96;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint32_t port_pkt_rcv_fecn = 0;
  uint32_t port_pkt_rcv_becn = 0;

  bool operator==(const PortRcvConCtrl&) const = default;

  static constexpr auto Layout() {
    using T = PortRcvConCtrl;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::port_pkt_rcv_fecn, "PortPktRcvFECN", 32, 32),
        Rw(&T::port_pkt_rcv_becn, "PortPktRcvBECN", 32, 64));
  }
};
static_assert(wire::Tiles<PortRcvConCtrl>());

// The packets received with a FECN on each SL.
struct PortSlRcvFecn {
  static constexpr AttributeId kId = AttributeId::kPortSlRcvFecn;
  static constexpr int kBits = 544;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint32_t, 16> counters{};

  bool operator==(const PortSlRcvFecn&) const = default;

  static constexpr auto Layout() {
    using T = PortSlRcvFecn;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortSLRcvFECN", 512, 32));
  }
};
static_assert(wire::Tiles<PortSlRcvFecn>());

// The packets received with a BECN on each SL.
struct PortSlRcvBecn {
  static constexpr AttributeId kId = AttributeId::kPortSlRcvBecn;
  static constexpr int kBits = 544;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint32_t, 16> counters{};

  bool operator==(const PortSlRcvBecn&) const = default;

  static constexpr auto Layout() {
    using T = PortSlRcvBecn;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortSLRcvBECN", 512, 32));
  }
};
static_assert(wire::Tiles<PortSlRcvBecn>());

// The time for which the port was congested.
struct PortXmitConCtrl {
  static constexpr AttributeId kId = AttributeId::kPortXmitConCtrl;
  static constexpr int kBits = 64;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  uint32_t port_xmit_time_cong = 0;

  bool operator==(const PortXmitConCtrl&) const = default;

  static constexpr auto Layout() {
    using T = PortXmitConCtrl;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::port_xmit_time_cong, "PortXmitTimeCong", 32, 32));
  }
};
static_assert(wire::Tiles<PortXmitConCtrl>());

// One counter for each data VL, VL0 to VL14.
struct PortVlXmitTimeCong {
  static constexpr AttributeId kId = AttributeId::kPortVlXmitTimeCong;
  static constexpr int kBits = 512;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint32_t, 15> counters{};

  bool operator==(const PortVlXmitTimeCong&) const = default;

  static constexpr auto Layout() {
    using T = PortVlXmitTimeCong;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "PortVLXmitTimeCong", 480, 32));
  }
};
static_assert(wire::Tiles<PortVlXmitTimeCong>());

// The data sent on each SL, in units of 4 bytes.
struct PortXmitDataSl {
  static constexpr AttributeId kId = AttributeId::kPortXmitDataSl;
  static constexpr int kBits = 544;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint32_t, 16> counters{};

  bool operator==(const PortXmitDataSl&) const = default;

  static constexpr auto Layout() {
    using T = PortXmitDataSl;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "XmtDataSL", 512, 32));
  }
};
static_assert(wire::Tiles<PortXmitDataSl>());

// The data received on each SL, in units of 4 bytes.
struct PortRcvDataSl {
  static constexpr AttributeId kId = AttributeId::kPortRcvDataSl;
  static constexpr int kBits = 544;

  uint8_t port_select = 0;
  uint16_t counter_select = 0;
  std::array<uint32_t, 16> counters{};

  bool operator==(const PortRcvDataSl&) const = default;

  static constexpr auto Layout() {
    using T = PortRcvDataSl;
    using wire::Reserved, wire::Rw;
    return wire::Table(  // component, name, length and offset in bits
        Reserved(8, 0), Rw(&T::port_select, "PortSelect", 8, 8),
        Rw(&T::counter_select, "CounterSelect", 16, 16),
        Rw(&T::counters, "RcvDataSL", 512, 32));
  }
};
static_assert(wire::Tiles<PortRcvDataSl>());

}  // namespace ibemu::mad

#endif  // IBEMU_MAD_WIRE_PORT_LANE_COUNTERS_H_
