#include "cli/command_line/line_reader.h"

#include <unistd.h>

#include <array>
#include <cerrno>

namespace ibemu::cli {

std::optional<std::string> LineReader::Next() {
  size_t searched = 0;
  while (true) {
    const size_t end = text_.find('\n', searched);
    if (end != std::string::npos) {
      std::string line = text_.substr(0, end);
      text_.erase(0, end + 1);
      return line;
    }
    searched = text_.size();
    std::array<char, size_t{64} * 1024> buffer;
    const ssize_t size = read(fd_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    text_.append(buffer.data(), static_cast<size_t>(size));
  }
}

}  // namespace ibemu::cli
