// What --front-end=cuse mounts for the whole machine, and takes away again.
#ifndef IBEMU_DAEMON_SYSTEM_MOUNTS_H_
#define IBEMU_DAEMON_SYSTEM_MOUNTS_H_

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "daemon/mount_plan.h"

namespace ibemu::daemon {

// Where the FUSE file system of the devices' sysfs entries is.
inline constexpr char kSystemMount[] = "/run/ibemu/sys";

// After the file system answers: lets its RDMA classes appear in /sys/class,
// whose entries are `machine_classes`.  What a real adapter has there is
// hidden.  Nothing is mounted over /sys/devices, which systemd's libudev would
// refuse.
MountPlan PlanSystemView(const std::vector<std::string>& served_classes,
                         const std::vector<std::string>& machine_classes);

// A process that mounts, keeps the rights to unmount, and does so when the
// daemon ends, however it ends.
class MountKeeper {
 public:
  // Forks; call it before the first thread starts.  Returns when `fuse`, an
  // open /dev/fuse, is mounted: the caller serves it then.  `overlay`:
  // PlanSystemView() too, else kSystemMount alone.
  //
  // Errors: FailedPrecondition when kSystemMount is in use (another daemon) or
  // FUSE can't be mounted.
  static absl::StatusOr<MountKeeper> Fork(int fuse, bool overlay);

  // Readable when the mounts are there, or can't be.
  int fd() const { return news_.get(); }

  // To be called when fd() is readable.
  absl::Status Result();

 private:
  MountKeeper(UniqueFd life, UniqueFd news)
      : life_(std::move(life)), news_(std::move(news)) {}

  UniqueFd life_;  // its other end hangs up when this process ends
  UniqueFd news_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SYSTEM_MOUNTS_H_
