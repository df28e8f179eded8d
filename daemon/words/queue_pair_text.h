// The texts of queue pairs: their names, types and owners, and what they and
// memory regions allow.
#ifndef IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_
#define IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "verbs/qp_attributes.h"

namespace ibemu::daemon {

// A QueuePairName is what NODE/QPN says; neither need exist.
struct QueuePairName {
  std::string node;
  uint32_t qpn = 0;
};

// Parses "node-3/0x12" or "node-3/18"; nothing if that names no queue pair. The
// last slash counts: a node's description may have one too.
std::optional<QueuePairName> ParseQueuePairName(std::string_view text);

// "RC", "UC" or "UD".
std::string_view QpTypeText(verbs::QpType type);

// Returns the number of the process that has an object, given what
// verbs::Memory::process() says of it; nothing if that is the daemon, for a
// host's IP interfaces.
std::optional<uint64_t> ProcessNumber(uint64_t process);

// The words for bits of verbs::access: "local-write", "remote-read" ...
std::vector<std::string_view> AccessWords(uint32_t access);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_
