#include "daemon/words/queue_pair_text.h"

#include <cstddef>
#include <iterator>

namespace ibemu::daemon {

std::string_view QpTypeText(verbs::QpType type) {
  constexpr std::string_view kNames[] = {"SMI", "GSI", "RC", "UC", "UD"};
  const auto number = static_cast<size_t>(type);
  return number < std::size(kNames) ? kNames[number] : "unknown";
}

}  // namespace ibemu::daemon
