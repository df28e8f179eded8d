#include "launch/in_child.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/unique_fd.h"

namespace ibemu::launch {

absl::Status InChild(const std::function<absl::Status()>& trial) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe2");
  UniqueFd reading(ends[0]);
  UniqueFd writing(ends[1]);
  const pid_t child = fork();
  if (child < 0) return absl::ErrnoToStatus(errno, "fork");
  if (child == 0) {
    const std::string message(trial().message());
    [[maybe_unused]] const ssize_t size =
        write(writing.get(), message.data(), message.size());
    _exit(0);
  }
  writing.Reset();
  std::string message;
  std::array<char, 1024> buffer;
  for (ssize_t size;
       (size = read(reading.get(), buffer.data(), buffer.size())) > 0;) {
    message.append(buffer.data(), static_cast<size_t>(size));
  }
  int status = 0;
  if (waitpid(child, &status, 0) == child && !WIFEXITED(status)) {
    return absl::InternalError("the trial was killed by a signal");
  }
  return message.empty() ? absl::OkStatus()
                         : absl::FailedPreconditionError(message);
}

}  // namespace ibemu::launch
