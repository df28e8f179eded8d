#include "daemon/words/queue_pair_text.h"

#include <cstddef>
#include <iterator>
#include <utility>

#include "daemon/words/word_reader.h"

namespace ibemu::daemon {

std::optional<QueuePairName> ParseQueuePairName(std::string_view text) {
  constexpr uint32_t kLast = 0xffffff;
  const size_t slash = text.rfind('/');
  if (slash == text.npos) return std::nullopt;
  const std::optional<uint32_t> qpn = ParseNumber(text.substr(slash + 1));
  if (!qpn || *qpn > kLast) return std::nullopt;
  return QueuePairName{.node = std::string(text.substr(0, slash)), .qpn = *qpn};
}

std::string_view QpTypeText(verbs::QpType type) {
  constexpr std::string_view kNames[] = {"SMI", "GSI", "RC", "UC", "UD"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

std::optional<uint64_t> ProcessNumber(uint64_t process) {
  // PID_MAX_LIMIT of Linux.  Memory of the daemon's own has larger numbers.
  constexpr uint64_t kMax = 1u << 22;
  return process <= kMax ? std::optional(process) : std::nullopt;
}

std::vector<std::string_view> AccessWords(uint32_t access) {
  constexpr std::pair<uint32_t, std::string_view> kWords[] = {
      {verbs::access::kLocalWrite, "local-write"},
      {verbs::access::kRemoteWrite, "remote-write"},
      {verbs::access::kRemoteRead, "remote-read"},
      {verbs::access::kRemoteAtomic, "remote-atomic"},
      {verbs::access::kBindWindow, "bind-window"},
      {verbs::access::kZeroBased, "zero-based"},
      {verbs::access::kHugeTlb, "huge-tlb"},
  };
  std::vector<std::string_view> words;
  for (const auto& [bit, word] : kWords) {
    if ((access & bit) != 0) words.push_back(word);
  }
  return words;
}

}  // namespace ibemu::daemon
