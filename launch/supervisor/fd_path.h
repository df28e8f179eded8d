// Paths below /proc that stand for descriptors.
#ifndef IBEMU_LAUNCH_SUPERVISOR_FD_PATH_H_
#define IBEMU_LAUNCH_SUPERVISOR_FD_PATH_H_

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// Returns the path of the descriptor `fd` of the thread `tid`.  `fd` is as a
// system call has it: its lower 32 bits count.
inline std::string PathOfFd(pid_t tid, uint64_t fd) {
  return absl::StrCat("/proc/", tid, "/fd/", static_cast<int>(fd));
}

// Returns a path by which open() gets the very inode of `fd`, whatever became
// of its own path.
inline std::string PathOfOwn(const UniqueFd& fd) {
  return absl::StrCat("/proc/self/fd/", fd.get());
}

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_FD_PATH_H_
