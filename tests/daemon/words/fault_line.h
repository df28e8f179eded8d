// A fault as it is written in one line.
#ifndef IBEMU_TESTS_DAEMON_WORDS_FAULT_LINE_H_
#define IBEMU_TESTS_DAEMON_WORDS_FAULT_LINE_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_split.h"
#include "base/absl_text.h"
#include "daemon/words/fault_words.h"

namespace ibemu::daemon {

// Returns what ParseFault() makes of the words of a line.
inline absl::StatusOr<FaultRequest> ParseFaultLine(std::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(Absl(line), ' ', absl::SkipEmpty());
  return ParseFault(words);
}

}  // namespace ibemu::daemon

#endif  // IBEMU_TESTS_DAEMON_WORDS_FAULT_LINE_H_
