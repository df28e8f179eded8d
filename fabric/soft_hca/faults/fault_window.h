// FaultWindow: the range, by number, of what a fault acts on.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_WINDOW_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_WINDOW_H_

#include <cstdint>
#include <limits>

namespace ibemu::fabric {

// The first and the last, numbered from 1.
struct FaultWindow {
  uint64_t first = 1, last = std::numeric_limits<uint64_t>::max();

  bool operator==(const FaultWindow&) const = default;
};

// Counts of what a fault concerns, and of how often it acted on that.
struct FaultActs {
  uint64_t seen = 0, acted = 0;

  // Counts one more.  Returns true if the fault acts on it.
  bool Count(const FaultWindow& window) {
    ++seen;
    const bool acts = seen >= window.first && seen <= window.last;
    if (acts) ++acted;
    return acts;
  }
  bool operator==(const FaultActs&) const = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_WINDOW_H_
