// The mounts of --front-end=cuse, which the whole machine sees.
#ifndef IBEMU_LAUNCH_SYSTEM_MOUNTS_H_
#define IBEMU_LAUNCH_SYSTEM_MOUNTS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// The right to mount and to unmount for the machine, for as long as the
// descriptor is open.
//
// Errors: FailedPrecondition when another has it.
absl::StatusOr<UniqueFd> ClaimSystemMounts();

// The next three are for who has that right.

// Mounts `fuse`, an open /dev/fuse, on kSystemMount, for everybody.  Who holds
// `fuse` serves it.  What a daemon has left behind that nobody serves any more,
// it takes away before.
//
// Errors: FailedPrecondition when something is mounted there, and
// MountFuse()'s.
absl::Status MountSystem(int fuse);

// PlanSystemView(), carried out; waits for the file system's answers.
absl::Status CoverSysClass();

// Takes away what those two have made, and the nodes of adapters that were
// pulled out, whoever made them.  Whoever waits for the file system's answers
// gets an error.
void UnmountSystem();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SYSTEM_MOUNTS_H_
