// The mounts of a run: looks, mounts, and carries out a MountPlan.
#ifndef IBEMU_LAUNCH_MOUNTS_H_
#define IBEMU_LAUNCH_MOUNTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "launch/mount_plan.h"

namespace ibemu::launch {

// /dev/fuse, opened by the namespace that is going to mount it.
//
// Errors: NotFound, PermissionDenied, each with the cure.
absl::StatusOr<UniqueFd> OpenFuse();

// True in a process that an `ibemu run` shows devices to.
bool InsideRun();

// Returns the facts of the machine.  Call it after EnterNamespaces() and
// OpenFuse(), which loads FUSE.
absl::StatusOr<MachineFacts> LookAtMachine();

// Returns the facts of what kFuseMount serves.  Call it when the daemon serves
// there, for the daemon answers.
absl::StatusOr<ServedFacts> LookAtServed();

// Returns the facts of the directories for state.  Call it in the run's user
// namespace.
StateFacts LookAtState();

// Takes the covers of `plan` away, and what the kernel left beside them: nobody
// else could remove that.
void CleanUp(const MountPlan& plan);

// The names in a directory, in no order.
absl::StatusOr<std::vector<std::string>> NamesIn(const std::string& path);

// The source of each of our mounts in mounts(5).
inline constexpr char kMountSource[] = "ibemu";

// The type of the mount of MountFuse() there.
inline constexpr char kFuseType[] = "fuse.ibemu";

// Mounts the FUSE connection `fuse` on `place`.  `for_everybody` lets other
// users in, as far as file modes do; only who mounts as it is may say that.
absl::Status MountFuse(int fuse, const char* place, bool for_everybody);

// Directories are made as the umask allows: it should be 022.
//
// A bind of what has gone meanwhile is passed over.
//
// Errors: the failed step's, "bind /a on /b: Permission denied".
absl::Status CarryOut(const MountPlan& plan);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_MOUNTS_H_
