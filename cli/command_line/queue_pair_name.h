// The names of queue pairs on command lines.
#ifndef IBEMU_CLI_COMMAND_LINE_QUEUE_PAIR_NAME_H_
#define IBEMU_CLI_COMMAND_LINE_QUEUE_PAIR_NAME_H_

#include <cstdint>
#include <optional>
#include <string>

#include "absl/strings/string_view.h"

namespace ibemu::cli {

struct QueuePairName {
  std::string node;
  uint32_t qpn = 0;
};

// Parses "node-1/0x12" or "node-1/18"; nothing if that names no queue pair. The
// last slash counts: a node's description may have one too.
std::optional<QueuePairName> ParseQueuePairName(absl::string_view text);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMAND_LINE_QUEUE_PAIR_NAME_H_
