// The texts of what queue pairs and memory regions are and allow, in tables and
// errors.
#ifndef IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_
#define IBEMU_DAEMON_WORDS_QUEUE_PAIR_TEXT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "verbs/qp_attributes.h"

namespace ibemu::daemon {

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
