// Processes that come from another one.
#ifndef IBEMU_LAUNCH_DESCENDANTS_H_
#define IBEMU_LAUNCH_DESCENDANTS_H_

#include <sys/types.h>

#include <set>
#include <vector>

#include "absl/functional/function_ref.h"

namespace ibemu::launch {

// A Process is a line of the process table: a process and who its parent is
// now.
struct Process {
  pid_t pid = 0;
  pid_t parent = 0;

  bool operator==(const Process&) const = default;
};

// The processes that /proc shows and that run, in no order; not those that have
// ended and were not reaped yet.
std::vector<Process> RunningProcesses();

// The children of the calling thread, which is its process's only one.
std::set<pid_t> OwnChildren();

// Returns the descendants of `ancestor` among `processes`, except for those
// that descend from it through one of `except`.
std::set<pid_t> DescendantsOf(pid_t ancestor,
                              const std::vector<Process>& processes,
                              const std::set<pid_t>& except);

// Calls `visit` once for each process that `list` tells of, and asks again
// until there is no further one: a process that forks while others are listed
// would leave its child out.  Gives up after 100 rounds, for what forks faster.
void ForEachProcess(absl::FunctionRef<std::set<pid_t>()> list,
                    absl::FunctionRef<void(pid_t)> visit);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_DESCENDANTS_H_
