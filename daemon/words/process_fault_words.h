// The words of faults of a process: those of its queue pairs, calls and events.
#ifndef IBEMU_DAEMON_WORDS_PROCESS_FAULT_WORDS_H_
#define IBEMU_DAEMON_WORDS_PROCESS_FAULT_WORDS_H_

#include <string>

#include "absl/status/statusor.h"
#include "daemon/words/fault_words.h"
#include "daemon/words/word_reader.h"

namespace ibemu::daemon {

// Parses what follows "process": {"4711", "create-qp", "nth", "2"} or {"4711",
// "loss", "opcode", "ack"}.
//
// Errors: InvalidArgument.
absl::StatusOr<FaultRequest> ParseProcessFault(WordReader& words);

// Returns what such a fault does, in words that ParseProcessFault() understands
// after the number.
std::string ProcessFaultText(const FaultRequest& request);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_PROCESS_FAULT_WORDS_H_
