// The words of faults of queue pairs.
#ifndef IBEMU_DAEMON_WORDS_QUEUE_PAIR_FAULT_WORDS_H_
#define IBEMU_DAEMON_WORDS_QUEUE_PAIR_FAULT_WORDS_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "daemon/words/fault_words.h"
#include "daemon/words/word_reader.h"

namespace ibemu::daemon {

// Parses what follows "qp": {"node-3/0x12", "loss", "opcode", "rc-acknowledge",
// "nth", "1"}.
//
// Errors: InvalidArgument.
absl::StatusOr<FaultRequest> ParseQueuePairFault(WordReader& words);
// The same without a place: what goes wrong.
absl::StatusOr<FaultRequest> ParseQueuePairEffects(WordReader& words);

// Returns the effects of a fault of queue pairs, in words that
// ParseQueuePairFault() understands after the place.
std::string QueuePairFaultText(const FaultRequest& request);

// "0x12"; "*" for all.
std::string QpnText(std::optional<uint32_t> qpn);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_QUEUE_PAIR_FAULT_WORDS_H_
