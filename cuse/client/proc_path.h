// ProcPath(): the name of a file that tells of a thread.
#ifndef IBEMU_CUSE_CLIENT_PROC_PATH_H_
#define IBEMU_CUSE_CLIENT_PROC_PATH_H_

#include <sys/types.h>

#include <array>
#include <cstdio>

namespace ibemu::cuse {

// Returns "/proc/TID/NAME", which ends with a zero, without memory of the heap:
// such files are looked at with each command.
inline std::array<char, 64> ProcPath(pid_t tid, const char* name) {
  std::array<char, 64> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/%s", tid, name);
  return path;
}

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_PROC_PATH_H_
