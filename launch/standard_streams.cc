#include "launch/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace ibemu::launch {

void FillStandardStreams() {
  int fd = STDIN_FILENO;
  while (fd >= 0 && fd <= STDERR_FILENO) {
    fd = open("/dev/null", O_RDWR | O_CLOEXEC);
  }
  if (fd >= 0) close(fd);
}

}  // namespace ibemu::launch
