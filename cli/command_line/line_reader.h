// LineReader: text from a descriptor, line by line.
#ifndef IBEMU_CLI_COMMAND_LINE_LINE_READER_H_
#define IBEMU_CLI_COMMAND_LINE_LINE_READER_H_

#include <optional>
#include <string>

namespace ibemu::cli {

class LineReader {
 public:
  // `fd` must be blocking.  Not owned.
  explicit LineReader(int fd) : fd_(fd) {}

  // Waits for the next line and returns it without its newline; nullopt at the
  // end.
  std::optional<std::string> Next();

  // Returns true if Next() would return a line without waiting.
  bool HasLine() const { return text_.find('\n') != std::string::npos; }

 private:
  const int fd_;
  std::string text_;
};

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_COMMAND_LINE_LINE_READER_H_
