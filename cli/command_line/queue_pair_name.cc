#include "cli/command_line/queue_pair_name.h"

#include "absl/strings/numbers.h"

namespace ibemu::cli {

std::optional<QueuePairName> ParseQueuePairName(absl::string_view text) {
  const size_t slash = text.rfind('/');
  if (slash == text.npos) return std::nullopt;
  const absl::string_view number = text.substr(slash + 1);
  QueuePairName name{.node = std::string(text.substr(0, slash))};
  if (!absl::SimpleAtoi(number, &name.qpn) &&
      !absl::SimpleHexAtoi(number, &name.qpn)) {
    return std::nullopt;
  }
  return name;
}

}  // namespace ibemu::cli
