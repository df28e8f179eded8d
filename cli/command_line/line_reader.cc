#include "cli/command_line/line_reader.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "absl/time/clock.h"

namespace ibemu::cli {

namespace {

// Returns false if nothing comes until `deadline`.
bool WaitForText(int fd, absl::Time deadline) {
  if (deadline == absl::InfiniteFuture()) return true;
  const absl::Duration left =
      std::max(deadline - absl::Now(), absl::ZeroDuration());
  const timespec timeout = absl::ToTimespec(left);
  pollfd readable{fd, POLLIN, 0};
  return ppoll(&readable, 1, &timeout, nullptr) != 0;
}

}  // namespace

std::optional<std::string> LineReader::Next(absl::Time deadline) {
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
    if (!WaitForText(fd_, deadline)) return std::nullopt;
    const ssize_t size = read(fd_, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) {
      ended_ = true;
      return std::nullopt;
    }
    text_.append(buffer.data(), static_cast<size_t>(size));
  }
}

}  // namespace ibemu::cli
