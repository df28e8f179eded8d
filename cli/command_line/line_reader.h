// LineReader: text from a descriptor, line by line.
#ifndef IBEMU_CLI_COMMAND_LINE_LINE_READER_H_
#define IBEMU_CLI_COMMAND_LINE_LINE_READER_H_

#include <optional>
#include <string>

#include "absl/time/time.h"

namespace ibemu::cli {

// A LineReader reads ahead: it keeps what it has read beyond a line, so nobody
// else may read from the descriptor.
class LineReader {
 public:
  // `fd` must be blocking.  Not owned.
  explicit LineReader(int fd) : fd_(fd) {}

  // Waits for the next line, until `deadline` at most, and returns it without
  // its newline; nullopt at the end, and when the deadline is over.
  std::optional<std::string> Next(absl::Time deadline = absl::InfiniteFuture());

  // Returns true if no more will come.
  bool ended() const { return ended_; }

  // Returns true if Next() would return a line without waiting.
  bool HasLine() const { return text_.find('\n') != std::string::npos; }

 private:
  const int fd_;
  std::string text_;
  bool ended_ = false;
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMAND_LINE_LINE_READER_H_
