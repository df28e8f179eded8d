// Checks that a process known by its number is still the same process.
#ifndef IBEMU_CUSE_CLIENT_PROCESS_LIFE_H_
#define IBEMU_CUSE_CLIENT_PROCESS_LIFE_H_

#include <sys/types.h>

#include "base/unique_fd.h"

namespace ibemu::cuse {

// Returns true if the process lives.  `process` is a pidfd, or empty.
bool IsAlive(const UniqueFd& process);

// Returns true if `tid` is now one of the threads of process `pid`.
bool HasThread(pid_t pid, pid_t tid);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_PROCESS_LIFE_H_
