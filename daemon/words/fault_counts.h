// The counts of a fault, as fault.list describes it.
#ifndef IBEMU_DAEMON_WORDS_FAULT_COUNTS_H_
#define IBEMU_DAEMON_WORDS_FAULT_COUNTS_H_

#include <cstdint>

#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// Returns the sum over both directions of a count of packets, "lost".
uint64_t FaultPackets(const nlohmann::json& fault, const char* count);

// Returns how often the fault has done anything: to packets, calls, completions
// or events, and how often it has cut its link.
uint64_t FaultActs(const nlohmann::json& fault);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_FAULT_COUNTS_H_
