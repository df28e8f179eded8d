// MountProcess: the process that mounts for the whole machine when no service
// manager does.
#ifndef IBEMU_LAUNCH_MOUNT_PROCESS_H_
#define IBEMU_LAUNCH_MOUNT_PROCESS_H_

#include <sys/types.h>

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// A process that mounts, keeps the rights to unmount, and does so when the
// daemon ends, however it ends.
class MountProcess {
 public:
  // Forks; call it before the first thread starts.  Returns when `fuse`, an
  // open /dev/fuse, is mounted: the caller serves it then.  `cover`:
  // CoverSysClass(), too.
  //
  // Errors: MountSystem()'s.
  static absl::StatusOr<MountProcess> Fork(int fuse, bool cover);

  // Waits until the mounts are gone: who starts the next daemon then finds
  // their places free.  Nobody may serve `fuse` any more.
  ~MountProcess();
  MountProcess(MountProcess&& other) noexcept;
  MountProcess& operator=(MountProcess&& other) noexcept;

  // Readable when the mounts are there, or can't be; and once more when the
  // process has ended before its time, so that nobody will unmount.
  int fd() const { return news_.get(); }

  // To be called once, when fd() is readable for the first time.
  absl::Status Result() const;

 private:
  MountProcess(pid_t process, UniqueFd life, UniqueFd news)
      : process_(process), life_(std::move(life)), news_(std::move(news)) {}

  pid_t process_;  // 0: moved from
  UniqueFd life_;  // its other end hangs up when this process ends
  UniqueFd news_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_MOUNT_PROCESS_H_
