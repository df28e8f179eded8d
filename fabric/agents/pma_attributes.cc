#include "fabric/agents/pma_attributes.h"

#include <algorithm>
#include <limits>
#include <tuple>
#include <type_traits>

#include "fabric/agents/pma_counters.h"
#include "fabric/agents/pma_port.h"
#include "mad/wire/port_counters.h"
#include "mad/wire/port_event_counters.h"
#include "mad/wire/port_lane_counters.h"
#include "wire/opcode.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::MadStatus, mad::PortCounters,
    mad::PortCountersExtended, mad::PortExtendedSpeedsCounters,
    mad::PortFlowCtlCounters, mad::PortOpRcvCounters, mad::PortRcvConCtrl,
    mad::PortRcvDataSl, mad::PortRcvErrorDetails, mad::PortSlRcvBecn,
    mad::PortSlRcvFecn, mad::PortVlOpData, mad::PortVlOpPackets,
    mad::PortVlXmitFlowCtlUpdateErrors, mad::PortVlXmitTimeCong,
    mad::PortVlXmitWaitCounters, mad::PortXmitConCtrl, mad::PortXmitDataSl,
    mad::PortXmitDiscardDetails, mad::SwPortVlCongestion;

// One component of attribute T, or an array of components.
template <class T>
struct Column {
  Counter counter;
  int select;  // bit of CounterSelect; CounterSelect2 starts at bit 16
  int count;   // number of consecutive counters and bits
  uint64_t max;
  uint64_t (*get)(const T&, int index);
  void (*put)(T&, int index, uint64_t value);
};

template <class M>
struct MemberOf;
template <class S, class V>
struct MemberOf<V S::*> {
  using Struct = S;
  using Value = V;
};

constexpr uint64_t Max(int bits) { return ~uint64_t{0} >> (64 - bits); }

template <auto kMember, class M = MemberOf<decltype(kMember)>>
constexpr Column<typename M::Struct> One(
    Counter counter, int select,
    int bits = std::numeric_limits<typename M::Value>::digits) {
  using T = typename M::Struct;
  return {counter,
          select,
          1,
          Max(bits),
          [](const T& from, int) -> uint64_t { return from.*kMember; },
          [](T& to, int, uint64_t value) {
            to.*kMember = static_cast<typename M::Value>(value);
          }};
}

template <auto kMember, class M = MemberOf<decltype(kMember)>>
constexpr Column<typename M::Struct> Run(
    Counter counter, int select = 0,
    int bits = std::numeric_limits<typename M::Value::value_type>::digits) {
  using T = typename M::Struct;
  using Element = typename M::Value::value_type;
  return {counter,
          select,
          static_cast<int>(std::tuple_size_v<typename M::Value>),
          Max(bits),
          [](const T& from, int index) -> uint64_t {
            return (from.*kMember)[static_cast<size_t>(index)];
          },
          [](T& to, int index, uint64_t value) {
            (to.*kMember)[static_cast<size_t>(index)] =
                static_cast<Element>(value);
          }};
}

// The components of attribute T.
template <class T>
constexpr int kColumns = 0;

template <>
constexpr Column<PortCounters> kColumns<PortCounters>[] = {
    One<&PortCounters::symbol_error_counter>(Counter::kSymbolError, 0),
    One<&PortCounters::link_error_recovery_counter>(Counter::kLinkErrorRecovery,
                                                    1),
    One<&PortCounters::link_downed_counter>(Counter::kLinkDowned, 2),
    One<&PortCounters::port_rcv_errors>(Counter::kRcvErrors, 3),
    One<&PortCounters::port_rcv_remote_physical_errors>(
        Counter::kRcvRemotePhysicalErrors, 4),
    One<&PortCounters::port_rcv_switch_relay_errors>(
        Counter::kRcvSwitchRelayErrors, 5),
    One<&PortCounters::port_xmit_discards>(Counter::kXmitDiscards, 6),
    One<&PortCounters::port_xmit_constraint_errors>(
        Counter::kXmitConstraintErrors, 7),
    One<&PortCounters::port_rcv_constraint_errors>(
        Counter::kRcvConstraintErrors, 8),
    One<&PortCounters::local_link_integrity_errors>(
        Counter::kLocalLinkIntegrityErrors, 9, 4),
    One<&PortCounters::excessive_buffer_overrun_errors>(
        Counter::kExcessiveBufferOverrunErrors, 10, 4),
    One<&PortCounters::vl15_dropped>(Counter::kVl15Dropped, 11),
    One<&PortCounters::port_xmit_data>(Counter::kXmitData, 12),
    One<&PortCounters::port_rcv_data>(Counter::kRcvData, 13),
    One<&PortCounters::port_xmit_pkts>(Counter::kXmitPkts, 14),
    One<&PortCounters::port_rcv_pkts>(Counter::kRcvPkts, 15),
    One<&PortCounters::port_xmit_wait>(Counter::kXmitWait, 16),
    One<&PortCounters::qp1_dropped>(Counter::kQp1Dropped, 17),
};

template <>
constexpr Column<PortCountersExtended> kColumns<PortCountersExtended>[] = {
    One<&PortCountersExtended::port_xmit_data>(Counter::kXmitData, 0),
    One<&PortCountersExtended::port_rcv_data>(Counter::kRcvData, 1),
    One<&PortCountersExtended::port_xmit_pkts>(Counter::kXmitPkts, 2),
    One<&PortCountersExtended::port_rcv_pkts>(Counter::kRcvPkts, 3),
    One<&PortCountersExtended::port_unicast_xmit_pkts>(
        Counter::kUnicastXmitPkts, 4),
    One<&PortCountersExtended::port_unicast_rcv_pkts>(Counter::kUnicastRcvPkts,
                                                      5),
    One<&PortCountersExtended::port_multicast_xmit_pkts>(
        Counter::kMulticastXmitPkts, 6),
    One<&PortCountersExtended::port_multicast_rcv_pkts>(
        Counter::kMulticastRcvPkts, 7),
    One<&PortCountersExtended::symbol_error_counter>(Counter::kSymbolError, 16),
    One<&PortCountersExtended::link_error_recovery_counter>(
        Counter::kLinkErrorRecovery, 17),
    One<&PortCountersExtended::link_downed_counter>(Counter::kLinkDowned, 18),
    One<&PortCountersExtended::port_rcv_errors>(Counter::kRcvErrors, 19),
    One<&PortCountersExtended::port_rcv_remote_physical_errors>(
        Counter::kRcvRemotePhysicalErrors, 20),
    One<&PortCountersExtended::port_rcv_switch_relay_errors>(
        Counter::kRcvSwitchRelayErrors, 21),
    One<&PortCountersExtended::port_xmit_discards>(Counter::kXmitDiscards, 22),
    One<&PortCountersExtended::port_xmit_constraint_errors>(
        Counter::kXmitConstraintErrors, 23),
    One<&PortCountersExtended::port_rcv_constraint_errors>(
        Counter::kRcvConstraintErrors, 24),
    One<&PortCountersExtended::local_link_integrity_errors>(
        Counter::kLocalLinkIntegrityErrors, 25),
    One<&PortCountersExtended::excessive_buffer_overrun_errors>(
        Counter::kExcessiveBufferOverrunErrors, 26),
    One<&PortCountersExtended::vl15_dropped>(Counter::kVl15Dropped, 27),
    One<&PortCountersExtended::port_xmit_wait>(Counter::kXmitWait, 28),
    One<&PortCountersExtended::qp1_dropped>(Counter::kQp1Dropped, 29),
};

template <>
constexpr Column<PortRcvErrorDetails> kColumns<PortRcvErrorDetails>[] = {
    One<&PortRcvErrorDetails::port_local_physical_errors>(
        Counter::kLocalPhysicalErrors, 0),
    One<&PortRcvErrorDetails::port_malformed_packet_errors>(
        Counter::kMalformedPackets, 1),
    One<&PortRcvErrorDetails::port_buffer_overrun_errors>(
        Counter::kBufferOverruns, 2),
    One<&PortRcvErrorDetails::port_dlid_mapping_errors>(
        Counter::kDlidMappingErrors, 3),
    One<&PortRcvErrorDetails::port_vl_mapping_errors>(Counter::kVlMappingErrors,
                                                      4),
    One<&PortRcvErrorDetails::port_looping_errors>(Counter::kLoopingErrors, 5),
};

template <>
constexpr Column<PortXmitDiscardDetails> kColumns<PortXmitDiscardDetails>[] = {
    One<&PortXmitDiscardDetails::port_inactive_discards>(
        Counter::kInactiveDiscards, 0),
    One<&PortXmitDiscardDetails::port_neighbor_mtu_discards>(
        Counter::kNeighborMtuDiscards, 1),
    One<&PortXmitDiscardDetails::port_sw_lifetime_limit_discards>(
        Counter::kLifetimeLimitDiscards, 2),
    One<&PortXmitDiscardDetails::port_sw_hoq_lifetime_limit_discards>(
        Counter::kHoqLifetimeLimitDiscards, 3),
};

template <>
constexpr Column<PortOpRcvCounters> kColumns<PortOpRcvCounters>[] = {
    One<&PortOpRcvCounters::port_op_rcv_pkts>(Counter::kOpRcvPkts, 0),
    One<&PortOpRcvCounters::port_op_rcv_data>(Counter::kOpRcvData, 1),
};

template <>
constexpr Column<PortFlowCtlCounters> kColumns<PortFlowCtlCounters>[] = {
    One<&PortFlowCtlCounters::port_xmit_flow_pkts>(Counter::kXmitFlowPkts, 0),
    One<&PortFlowCtlCounters::port_rcv_flow_pkts>(Counter::kRcvFlowPkts, 1),
};

template <>
constexpr Column<PortVlOpPackets> kColumns<PortVlOpPackets>[] = {
    Run<&PortVlOpPackets::counters>(Counter::kVlOpPackets)};
template <>
constexpr Column<PortVlOpData> kColumns<PortVlOpData>[] = {
    Run<&PortVlOpData::counters>(Counter::kVlOpData)};
template <>
constexpr Column<PortVlXmitFlowCtlUpdateErrors>
    kColumns<PortVlXmitFlowCtlUpdateErrors>[] = {
        Run<&PortVlXmitFlowCtlUpdateErrors::counters>(
            Counter::kVlXmitFlowCtlUpdateErrors, 0, 2)};
template <>
constexpr Column<PortVlXmitWaitCounters> kColumns<PortVlXmitWaitCounters>[] = {
    Run<&PortVlXmitWaitCounters::counters>(Counter::kVlXmitWait)};
template <>
constexpr Column<SwPortVlCongestion> kColumns<SwPortVlCongestion>[] = {
    Run<&SwPortVlCongestion::counters>(Counter::kVlCongestion)};

template <>
constexpr Column<PortRcvConCtrl> kColumns<PortRcvConCtrl>[] = {
    One<&PortRcvConCtrl::port_pkt_rcv_fecn>(Counter::kRcvFecn, 0),
    One<&PortRcvConCtrl::port_pkt_rcv_becn>(Counter::kRcvBecn, 1),
};
template <>
constexpr Column<PortSlRcvFecn> kColumns<PortSlRcvFecn>[] = {
    Run<&PortSlRcvFecn::counters>(Counter::kSlRcvFecn)};
template <>
constexpr Column<PortSlRcvBecn> kColumns<PortSlRcvBecn>[] = {
    Run<&PortSlRcvBecn::counters>(Counter::kSlRcvBecn)};
template <>
constexpr Column<PortXmitConCtrl> kColumns<PortXmitConCtrl>[] = {
    One<&PortXmitConCtrl::port_xmit_time_cong>(Counter::kXmitTimeCong, 0)};
template <>
constexpr Column<PortVlXmitTimeCong> kColumns<PortVlXmitTimeCong>[] = {
    Run<&PortVlXmitTimeCong::counters>(Counter::kVlXmitTimeCong)};
template <>
constexpr Column<PortXmitDataSl> kColumns<PortXmitDataSl>[] = {
    Run<&PortXmitDataSl::counters>(Counter::kXmitDataSl)};
template <>
constexpr Column<PortRcvDataSl> kColumns<PortRcvDataSl>[] = {
    Run<&PortRcvDataSl::counters>(Counter::kRcvDataSl)};

template <>
constexpr Column<PortExtendedSpeedsCounters>
    kColumns<PortExtendedSpeedsCounters>[] = {
        One<&PortExtendedSpeedsCounters::sync_header_error_counter>(
            Counter::kSyncHeaderErrors, 0),
        One<&PortExtendedSpeedsCounters::unknown_block_counter>(
            Counter::kUnknownBlocks, 1),
        Run<&PortExtendedSpeedsCounters::error_detection_counter_lane>(
            Counter::kLaneErrorDetections, 2),
        Run<&PortExtendedSpeedsCounters::fec_correctable_block_counter_lane>(
            Counter::kLaneFecCorrectable, 14),
        Run<&PortExtendedSpeedsCounters::fec_uncorrectable_block_counter_lane>(
            Counter::kLaneFecUncorrectable, 26),
        One<&PortExtendedSpeedsCounters::port_fec_correctable_block_counter>(
            Counter::kFecCorrectableBlocks, 38),
        One<&PortExtendedSpeedsCounters::port_fec_uncorrectable_block_counter>(
            Counter::kFecUncorrectableBlocks, 39),
        One<&PortExtendedSpeedsCounters::port_fec_corrected_symbol_counter>(
            Counter::kFecCorrectedSymbols, 40),
};

template <class T>
uint64_t Selected(const T& wanted) {
  if constexpr (requires { wanted.counter_select2; }) {
    return wanted.counter_select | uint64_t{wanted.counter_select2} << 16;
  } else {
    return wanted.counter_select;
  }
}

// The member of PmaPort with the OpCode that attribute T counts; null if T has
// none.
template <class T>
constexpr uint8_t PmaPort::*kOpCode = nullptr;
template <>
constexpr uint8_t PmaPort::*kOpCode<PortOpRcvCounters> = &PmaPort::op_code;
template <>
constexpr uint8_t PmaPort::*kOpCode<PortVlOpPackets> =
    &PmaPort::vl_packets_op_code;
template <>
constexpr uint8_t PmaPort::*kOpCode<PortVlOpData> = &PmaPort::vl_data_op_code;

// Sets the OpCode of attribute T.  Its counters start again if the OpCode
// changes.
template <class T>
void SelectOpCode(NodePort& port, uint8_t op_code) {
  PmaPort& pma = PmaOf(port);
  if (pma.*kOpCode<T> == op_code) return;
  pma.*kOpCode<T> = op_code;
  for (const Column<T>& column : kColumns<T>) {
    for (int i = 0; i < column.count; ++i) {
      WriteCounter(port, At(column.counter, i), 0);
    }
  }
}

uint64_t Total(std::span<const NodePort> ports, Counter counter) {
  uint64_t total = 0;
  for (const NodePort& port : ports) {
    const uint64_t value = ReadCounter(port, counter);
    total = value > ~total ? ~uint64_t{0} : total + value;
  }
  return total;
}

// PortCounters does not tell unicast from multicast packets.  A Set of its
// packet counters is applied to both, so that the extended counters still add
// up.
void SplitPackets(NodePort& port, const PortCounters& wanted) {
  const auto selects = [&](int bit) {
    return (wanted.counter_select >> bit & 1) != 0;
  };
  if (selects(14)) {
    WriteCounter(port, Counter::kUnicastXmitPkts, wanted.port_xmit_pkts);
    WriteCounter(port, Counter::kMulticastXmitPkts, 0);
  }
  if (selects(15)) {
    WriteCounter(port, Counter::kUnicastRcvPkts, wanted.port_rcv_pkts);
    WriteCounter(port, Counter::kMulticastRcvPkts, 0);
  }
}

template <class T>
MadStatus Handle(const PmaSelection& selection, bool set,
                 std::span<std::byte> data) {
  T attribute = wire::Decode<T>(data);
  if (set) {
    const uint64_t selected = Selected(attribute);
    for (NodePort& port : selection.ports) {
      if constexpr (kOpCode<T> != nullptr) {
        SelectOpCode<T>(port, attribute.op_code);
      }
      if constexpr (std::is_same_v<T, PortCounters>) {
        SplitPackets(port, attribute);
      }
      for (const Column<T>& column : kColumns<T>) {
        for (int i = 0; i < column.count; ++i) {
          if ((selected >> (column.select + i) & 1) == 0) continue;
          WriteCounter(port, At(column.counter, i), column.get(attribute, i));
        }
      }
    }
  }
  for (const Column<T>& column : kColumns<T>) {
    for (int i = 0; i < column.count; ++i) {
      column.put(
          attribute, i,
          std::min(column.max, Total(selection.ports, At(column.counter, i))));
    }
  }
  if constexpr (kOpCode<T> != nullptr) {
    const PmaPort* pma = FindPma(selection.ports.front());
    attribute.op_code =
        pma != nullptr ? pma->*kOpCode<T> : wire::opcode::kUdSendOnly;
  }
  wire::Encode(attribute, data);
  return MadStatus::kOk;
}

}  // namespace

MadStatus HandleCounters(const PmaSelection& selection, AttributeId attribute,
                         bool set, std::span<std::byte> data) {
  switch (attribute) {
    case AttributeId::kPortCounters:
      return Handle<PortCounters>(selection, set, data);
    case AttributeId::kPortCountersExtended:
      return Handle<PortCountersExtended>(selection, set, data);
    case AttributeId::kPortRcvErrorDetails:
      return Handle<PortRcvErrorDetails>(selection, set, data);
    case AttributeId::kPortXmitDiscardDetails:
      return Handle<PortXmitDiscardDetails>(selection, set, data);
    case AttributeId::kPortOpRcvCounters:
      return Handle<PortOpRcvCounters>(selection, set, data);
    case AttributeId::kPortFlowCtlCounters:
      return Handle<PortFlowCtlCounters>(selection, set, data);
    case AttributeId::kPortVlOpPackets:
      return Handle<PortVlOpPackets>(selection, set, data);
    case AttributeId::kPortVlOpData:
      return Handle<PortVlOpData>(selection, set, data);
    case AttributeId::kPortVlXmitFlowCtlUpdateErrors:
      return Handle<PortVlXmitFlowCtlUpdateErrors>(selection, set, data);
    case AttributeId::kPortVlXmitWaitCounters:
      return Handle<PortVlXmitWaitCounters>(selection, set, data);
    case AttributeId::kPortExtendedSpeedsCounters:
      return Handle<PortExtendedSpeedsCounters>(selection, set, data);
    case AttributeId::kSwPortVlCongestion:
      if (!selection.is_switch) return MadStatus::kUnsupportedAttribute;
      return Handle<SwPortVlCongestion>(selection, set, data);
    case AttributeId::kPortRcvConCtrl:
      return Handle<PortRcvConCtrl>(selection, set, data);
    case AttributeId::kPortSlRcvFecn:
      return Handle<PortSlRcvFecn>(selection, set, data);
    case AttributeId::kPortSlRcvBecn:
      return Handle<PortSlRcvBecn>(selection, set, data);
    case AttributeId::kPortXmitConCtrl:
      return Handle<PortXmitConCtrl>(selection, set, data);
    case AttributeId::kPortVlXmitTimeCong:
      return Handle<PortVlXmitTimeCong>(selection, set, data);
    case AttributeId::kPortXmitDataSl:
      return Handle<PortXmitDataSl>(selection, set, data);
    case AttributeId::kPortRcvDataSl:
      return Handle<PortRcvDataSl>(selection, set, data);
    default:
      return MadStatus::kUnsupportedAttribute;
  }
}

}  // namespace ibemu::fabric
