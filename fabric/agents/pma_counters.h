// The counters of a port as the performance management agent shows them: what
// the port has counted since the last Set of each counter.
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

// The counters, regardless of the attribute that shows them: PortCounters and
// PortCountersExtended show the same ones, so a Set through one changes both.
// Arrays by SL, VL or lane are runs of 16 values.
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
  // Counters of PortRcvErrorDetails and PortXmitDiscardDetails.
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
  // Counters of PortOpRcvCounters.
  kOpRcvPkts,
  kOpRcvData,
  // Events that the simulated links do not have.  The counters are zero until
  // they are written.
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

  kScalars,  // the number of counters above
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

// Returns the value since the last WriteCounter(), not saturated.
uint64_t ReadCounter(const NodePort& port, Counter counter);

// Sets a counter to `value`, from which it continues.
void WriteCounter(NodePort& port, Counter counter, uint64_t value);

// A counter of `ibemu counter`, with its name in the IBA ("PortXmitData").
struct NamedCounter {
  std::string_view name;
  Counter counter;
};
std::span<const NamedCounter> NamedCounters();

// Returns the counter of this name, regardless of letter case, or null if there
// is none.
const NamedCounter* FindCounter(std::string_view name);

// Sets all counters of the port to zero.
void ClearCounters(NodePort& port);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_PMA_COUNTERS_H_
