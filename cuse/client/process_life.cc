#include "cuse/client/process_life.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "base/pidfd.h"

namespace ibemu::cuse {

// In both functions EPERM means yes as well: the process is another user's.  A
// daemon that may access its memory need not have the right to send it signals.

bool IsAlive(const UniqueFd& process) {
  return process.valid() &&
         (pidfd_send_signal(process.get(), 0, nullptr, 0) == 0 ||
          errno == EPERM);
}

bool HasThread(pid_t pid, pid_t tid) {
  return syscall(SYS_tgkill, pid, tid, 0) == 0 || errno == EPERM;
}

}  // namespace ibemu::cuse
