#include "fabric/agents/pma_counters.h"

#include <algorithm>
#include <numeric>

#include "absl/strings/ascii.h"
#include "fabric/agents/pma_port.h"
#include "fabric/packet/packet.h"
#include "wire/opcode.h"

namespace ibemu::fabric {
namespace {

using Row = std::array<uint64_t, 16>;

constexpr int kVl15 = 15;
// The length of a subnet management packet, which has no GRH, in units of 4
// bytes.
constexpr uint64_t kSmpWords = (8 + 12 + 8 + 256 + 4) / 4;

// Returns the count of VL or SL 0: LaneCounters has only the others, so lane 0
// has the rest of the total.
uint64_t LaneZero(uint64_t total, const Row* row, int first, int last) {
  if (row == nullptr) return total;
  return total - std::accumulate(row->begin() + first, row->begin() + last + 1,
                                 uint64_t{0});
}

uint64_t BySl(uint64_t total, const Row* row, int sl) {
  if (sl == 0) return LaneZero(total, row, 1, 15);
  return row == nullptr ? 0 : (*row)[static_cast<size_t>(sl)];
}

uint64_t ByVl(uint64_t total, uint64_t vl15, const Row* row, int vl) {
  if (vl == kVl15) return vl15;
  if (vl == 0) return LaneZero(total - vl15, row, 1, 14);
  return row == nullptr ? 0 : (*row)[static_cast<size_t>(vl)];
}

const EventCounters& EventsOf(const NodePort& port) {
  static constexpr EventCounters kNone;
  return port.events ? *port.events : kNone;
}

// Returns true if received MADs have the OpCode that an attribute selects.
bool Counts(uint8_t op_code) { return op_code == wire::opcode::kUdSendOnly; }

uint64_t RawRun(const NodePort& port, Counter run, int index) {
  const TrafficCounters& traffic = port.traffic;
  const LaneCounters* lanes = port.lanes.get();
  const PmaPort* pma = FindPma(port);
  switch (run) {
    case Counter::kXmitDataSl:
      return BySl(traffic.xmit_data, lanes ? &lanes->xmit_data_by_sl : nullptr,
                  index);
    case Counter::kRcvDataSl:
      return BySl(traffic.rcv_data, lanes ? &lanes->rcv_data_by_sl : nullptr,
                  index);
    case Counter::kVlOpPackets:
      if (pma != nullptr && !Counts(pma->vl_packets_op_code)) return 0;
      return ByVl(traffic.rcv_packets, traffic.rcv_vl15_packets,
                  lanes ? &lanes->rcv_packets_by_vl : nullptr, index);
    case Counter::kVlOpData:
      if (pma != nullptr && !Counts(pma->vl_data_op_code)) return 0;
      return ByVl(traffic.rcv_data, traffic.rcv_vl15_packets * kSmpWords,
                  lanes ? &lanes->rcv_data_by_vl : nullptr, index);
    default:
      return 0;
  }
}

// Returns what the port has counted since it was created.
uint64_t Raw(const NodePort& port, Counter counter) {
  const PmaPort* pma = FindPma(port);
  const TrafficCounters& traffic = port.traffic;
  const EventCounters& events = EventsOf(port);
  switch (counter) {
    case Counter::kSymbolError:
      return events.symbol_errors;
    case Counter::kLinkErrorRecovery:
      return events.link_error_recovery;
    case Counter::kLinkDowned:
      return events.link_downed;
    case Counter::kRcvErrors:
      return events.rcv_errors();
    case Counter::kRcvRemotePhysicalErrors:
      return events.rcv_remote_physical_errors;
    case Counter::kRcvSwitchRelayErrors:
      return events.switch_relay_errors();
    case Counter::kXmitDiscards:
      return events.xmit_discards();
    case Counter::kXmitConstraintErrors:
      return events.xmit_constraint_errors;
    case Counter::kRcvConstraintErrors:
      return events.rcv_constraint_errors;
    case Counter::kLocalLinkIntegrityErrors:
      return events.local_link_integrity_errors;
    case Counter::kExcessiveBufferOverrunErrors:
      return events.excessive_buffer_overrun_errors;
    case Counter::kQp1Dropped:
      return events.qp1_dropped;
    case Counter::kVl15Dropped:
      return events.vl15_dropped;
    case Counter::kXmitData:
      return traffic.xmit_data;
    case Counter::kRcvData:
      return traffic.rcv_data;
    case Counter::kXmitPkts:
      return traffic.xmit_packets;
    case Counter::kRcvPkts:
      return traffic.rcv_packets;
    case Counter::kXmitWait:
      return events.xmit_wait;
    case Counter::kUnicastXmitPkts:
      return traffic.xmit_packets - events.xmit_multicast_packets;
    case Counter::kUnicastRcvPkts:
      return traffic.rcv_packets - events.rcv_multicast_packets;
    case Counter::kMulticastXmitPkts:
      return events.xmit_multicast_packets;
    case Counter::kMulticastRcvPkts:
      return events.rcv_multicast_packets;
    case Counter::kLocalPhysicalErrors:
      return events.rcv_local_physical_errors;
    case Counter::kMalformedPackets:
      return events.rcv_malformed;
    case Counter::kBufferOverruns:
      return events.rcv_buffer_overrun;
    case Counter::kDlidMappingErrors:
      return events.relay_dlid_mapping;
    case Counter::kVlMappingErrors:
      return events.relay_vl_mapping;
    case Counter::kLoopingErrors:
      return events.relay_looping;
    case Counter::kInactiveDiscards:
      return events.xmit_inactive;
    case Counter::kNeighborMtuDiscards:
      return events.xmit_neighbor_mtu;
    case Counter::kLifetimeLimitDiscards:
      return events.xmit_lifetime;
    case Counter::kHoqLifetimeLimitDiscards:
      return events.xmit_hoq_lifetime;
    case Counter::kOpRcvPkts:
      return pma != nullptr && !Counts(pma->op_code) ? 0 : traffic.rcv_packets;
    case Counter::kOpRcvData:
      return pma != nullptr && !Counts(pma->op_code) ? 0 : traffic.rcv_data;
    default:
      break;
  }
  const int number = static_cast<int>(counter);
  if (counter < Counter::kXmitDataSl) return 0;
  return RawRun(port, static_cast<Counter>(number & ~15), number & 15);
}

constexpr NamedCounter kNamed[] = {
    {"SymbolErrorCounter", Counter::kSymbolError},
    {"LinkErrorRecoveryCounter", Counter::kLinkErrorRecovery},
    {"LinkDownedCounter", Counter::kLinkDowned},
    {"PortRcvErrors", Counter::kRcvErrors},
    {"PortRcvRemotePhysicalErrors", Counter::kRcvRemotePhysicalErrors},
    {"PortRcvSwitchRelayErrors", Counter::kRcvSwitchRelayErrors},
    {"PortXmitDiscards", Counter::kXmitDiscards},
    {"PortXmitConstraintErrors", Counter::kXmitConstraintErrors},
    {"PortRcvConstraintErrors", Counter::kRcvConstraintErrors},
    {"LocalLinkIntegrityErrors", Counter::kLocalLinkIntegrityErrors},
    {"ExcessiveBufferOverrunErrors", Counter::kExcessiveBufferOverrunErrors},
    {"QP1Dropped", Counter::kQp1Dropped},
    {"VL15Dropped", Counter::kVl15Dropped},
    {"PortXmitData", Counter::kXmitData},
    {"PortRcvData", Counter::kRcvData},
    {"PortXmitPkts", Counter::kXmitPkts},
    {"PortRcvPkts", Counter::kRcvPkts},
    {"PortXmitWait", Counter::kXmitWait},
    {"PortUnicastXmitPkts", Counter::kUnicastXmitPkts},
    {"PortUnicastRcvPkts", Counter::kUnicastRcvPkts},
    {"PortMulticastXmitPkts", Counter::kMulticastXmitPkts},
    {"PortMulticastRcvPkts", Counter::kMulticastRcvPkts},
    {"PortLocalPhysicalErrors", Counter::kLocalPhysicalErrors},
    {"PortMalformedPktErrors", Counter::kMalformedPackets},
    {"PortBufferOverrunErrors", Counter::kBufferOverruns},
    {"PortDLIDMappingErrors", Counter::kDlidMappingErrors},
    {"PortVLMappingErrors", Counter::kVlMappingErrors},
    {"PortLoopingErrors", Counter::kLoopingErrors},
    {"PortInactiveDiscards", Counter::kInactiveDiscards},
    {"PortNeighborMTUDiscards", Counter::kNeighborMtuDiscards},
    {"PortSwLifetimeLimitDiscards", Counter::kLifetimeLimitDiscards},
    {"PortSwHOQLifetimeLimitDiscards", Counter::kHoqLifetimeLimitDiscards},
};

}  // namespace

uint64_t ReadCounter(const NodePort& port, Counter counter) {
  const auto index = static_cast<size_t>(counter);
  const PmaPort* pma = FindPma(port);
  const bool written = pma != nullptr && index < pma->base.size();
  return Raw(port, counter) - (written ? pma->base[index] : 0);
}

void WriteCounter(NodePort& port, Counter counter, uint64_t value) {
  const auto index = static_cast<size_t>(counter);
  std::vector<uint64_t>& base = PmaOf(port).base;
  if (index >= base.size()) {
    // The runs take memory only in the few ports in which one is ever cleared.
    base.resize(static_cast<size_t>(
        counter < Counter::kScalars ? Counter::kScalars : Counter::kEnd));
  }
  base[index] = Raw(port, counter) - value;
}

std::span<const NamedCounter> NamedCounters() { return kNamed; }

const NamedCounter* FindCounter(std::string_view name) {
  const auto same = [](char a, char b) {
    return absl::ascii_tolower(static_cast<unsigned char>(a)) ==
           absl::ascii_tolower(static_cast<unsigned char>(b));
  };
  const auto* found = std::ranges::find_if(kNamed, [&](const auto& named) {
    return std::ranges::equal(named.name, name, same);
  });
  return found == std::end(kNamed) ? nullptr : found;
}

void ClearCounters(NodePort& port) {
  for (int i = 0; i < static_cast<int>(Counter::kEnd); ++i) {
    if (i >= static_cast<int>(Counter::kScalars) &&
        i < static_cast<int>(Counter::kXmitDataSl)) {
      continue;
    }
    WriteCounter(port, static_cast<Counter>(i), 0);
  }
}

}  // namespace ibemu::fabric
