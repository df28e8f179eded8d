// Whether a process that was known by its number is still that process.
#ifndef IBEMU_CUSE_CLIENT_PROCESS_LIFE_H_
#define IBEMU_CUSE_CLIENT_PROCESS_LIFE_H_

#include <sys/types.h>

#include "base/unique_fd.h"

namespace ibemu::cuse {

// `process`: a pidfd, or none.
bool IsAlive(const UniqueFd& process);

// Whether `tid` is one of the threads of process `pid` now.
bool HasThread(pid_t pid, pid_t tid);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_PROCESS_LIFE_H_
