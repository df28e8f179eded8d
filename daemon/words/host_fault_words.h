// The words of faults of a host: calls that fail, and events.
#ifndef IBEMU_DAEMON_WORDS_HOST_FAULT_WORDS_H_
#define IBEMU_DAEMON_WORDS_HOST_FAULT_WORDS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "daemon/words/fault_words.h"
#include "daemon/words/word_reader.h"

namespace ibemu::daemon {

// Parses what follows "host": {"node-3", "create-qp", "nth", "2", "errno",
// "ENOMEM"} or {"node-3", "event", "port-error", "port", "1"}.
//
// Errors: InvalidArgument.
absl::StatusOr<FaultRequest> ParseHostFault(WordReader& words);
// The same without a place: what goes wrong.
absl::StatusOr<FaultRequest> ParseHostEffects(WordReader& words);

// Returns true if such a fault begins with this word after its place.
bool IsHostEffect(std::string_view word);

// Returns what such a fault does, in words that ParseHostFault() understands
// after the node.
std::string HostFaultText(const FaultRequest& request);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_HOST_FAULT_WORDS_H_
