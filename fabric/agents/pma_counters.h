// The counters of a port as the performance management agent shows them: what
// the port counted since the last Set of each.
#ifndef IBEMU_FABRIC_AGENTS_PMA_COUNTERS_H_
#define IBEMU_FABRIC_AGENTS_PMA_COUNTERS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fabric/subnet/node.h"

namespace ibemu::fabric {

// One counter, whichever attribute shows it: PortCounters and
// PortCountersExtended show the same ones, so that a Set of one clears both.
// Arrays by SL, VL or lane are runs of 16.
enum class Counter : uint16_t {
  kSymbolError,
  kLinkErrorRecovery,
  kLinkDowned,
  kRcvErrors,
  kRcvRemotePhysicalErrors,
  kRcvSwitchRelayErrors,
  kXmitDiscards,
  kXmitConstraintErrors,
  kRcvConstraintErrors,
  kLocalLinkIntegrityErrors,
  kExcessiveBufferOverrunErrors,
  kQp1Dropped,
  kVl15Dropped,
  kXmitData,
  kRcvData,
  kXmitPkts,
  kRcvPkts,
  kXmitWait,
  kUnicastXmitPkts,
  kUnicastRcvPkts,
  kMulticastXmitPkts,
  kMulticastRcvPkts,
  // PortRcvErrorDetails and PortXmitDiscardDetails.
  kLocalPhysicalErrors,
  kMalformedPackets,
  kBufferOverruns,
  kDlidMappingErrors,
  kVlMappingErrors,
  kLoopingErrors,
  kInactiveDiscards,
  kNeighborMtuDiscards,
  kLifetimeLimitDiscards,
  kHoqLifetimeLimitDiscards,
  // PortOpRcvCounters.
  kOpRcvPkts,
  kOpRcvData,
  // Events that the simulated links don't have: zero until somebody writes.
  kXmitFlowPkts,
  kRcvFlowPkts,
  kRcvFecn,
  kRcvBecn,
  kXmitTimeCong,
  kSyncHeaderErrors,
  kUnknownBlocks,
  kFecCorrectableBlocks,
  kFecUncorrectableBlocks,
  kFecCorrectedSymbols,

  kScalars,  // how many there are above
  kXmitDataSl = 48,
  kRcvDataSl = 64,
  kVlOpPackets = 80,
  kVlOpData = 96,
  kVlXmitFlowCtlUpdateErrors = 112,
  kVlXmitWait = 128,
  kVlCongestion = 144,
  kSlRcvFecn = 160,
  kSlRcvBecn = 176,
  kVlXmitTimeCong = 192,
  kLaneErrorDetections = 208,
  kLaneFecCorrectable = 224,
  kLaneFecUncorrectable = 240,
  kEnd = 256,
};
static_assert(Counter::kScalars <= Counter::kXmitDataSl);

constexpr Counter At(Counter run, int index) {
  return static_cast<Counter>(static_cast<int>(run) + index);
}

// The value since the last WriteCounter(), not yet saturated.
uint64_t ReadCounter(const NodePort& port, Counter counter);

// The counter goes on from `value`.
void WriteCounter(NodePort& port, Counter counter, uint64_t value);

// The counters of `ibemu counter`, under IBA's names ("PortXmitData").
struct NamedCounter {
  std::string_view name;
  Counter counter;
};
std::span<const NamedCounter> NamedCounters();

// Null when there is none of this name; case doesn't matter.
const NamedCounter* FindCounter(std::string_view name);

// All counters of the port to zero.
void ClearCounters(NodePort& port);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_COUNTERS_H_
