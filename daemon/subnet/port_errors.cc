#include "daemon/subnet/port_errors.h"

#include <algorithm>
#include <iterator>

namespace ibemu::daemon {
namespace {

using fabric::Counter;

constexpr Counter kErrorCounters[] = {
    Counter::kSymbolError,
    Counter::kLinkErrorRecovery,
    Counter::kLinkDowned,
    Counter::kRcvErrors,
    Counter::kRcvRemotePhysicalErrors,
    Counter::kRcvSwitchRelayErrors,
    Counter::kXmitDiscards,
    Counter::kXmitConstraintErrors,
    Counter::kRcvConstraintErrors,
    Counter::kLocalLinkIntegrityErrors,
    Counter::kExcessiveBufferOverrunErrors,
    Counter::kQp1Dropped,
    Counter::kVl15Dropped,
};

}  // namespace

bool CountsErrors(Counter counter) {
  return std::ranges::find(kErrorCounters, counter) != std::end(kErrorCounters);
}

uint64_t SumOfErrors(const fabric::NodePort& port) {
  // Most ports have counted nothing, and nobody has set their counters.
  if (!port.events && !port.pma) return 0;
  uint64_t sum = 0;
  for (const Counter counter : kErrorCounters) {
    sum += fabric::ReadCounter(port, counter);
  }
  return sum;
}

}  // namespace ibemu::daemon
