#include "launch/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/unique_fd.h"

namespace ibemu::launch {

void FillStandardStreams() {
  int fd = STDIN_FILENO;
  while (fd >= 0 && fd <= STDERR_FILENO) {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  }
  if (fd >= 0) close(fd);
}

void LeaveStandardStreams(int last) {
  const UniqueFd null(open("/dev/null", O_RDWR | O_CLOEXEC));
  if (!null.valid()) return;
  for (int fd = STDIN_FILENO; fd <= last; ++fd) dup2(null.get(), fd);
}

}  // namespace ibemu::launch
