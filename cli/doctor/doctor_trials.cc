#include "cli/doctor/doctor_trials.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <functional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "base/unique_fd.h"
#include "control/peer.h"
#include "launch/in_child.h"
#include "launch/mounts.h"
#include "launch/namespaces.h"
#include "launch/network/network_devices.h"
#include "loop/uring_loop.h"

namespace ibemu::cli {
namespace {

absl::Status TryNamespaces() { return launch::EnterNamespaces().status(); }

absl::Status TryFuse() {
  IBEMU_ASSIGN_OR_RETURN(const UniqueFd fuse, launch::OpenFuse());
  if (!control::CheckFuseDescriptor(fuse.get()).ok()) {
    return absl::FailedPreconditionError(
        "/dev/fuse is not the FUSE device: load it with \"modprobe fuse\" (as "
        "root); a container needs \"--device /dev/fuse\"");
  }
  IBEMU_RETURN_IF_ERROR(TryNamespaces());
  // The mounting process must have opened the device in its own user namespace.
  IBEMU_ASSIGN_OR_RETURN(const UniqueFd inner, launch::OpenFuse());
  const std::string data =
      absl::StrCat("fd=", inner.get(), ",rootmode=40000,user_id=", geteuid(),
                   ",group_id=", getegid());
  if (mount("ibemu", "/dev", "fuse", MS_NOSUID | MS_NODEV, data.c_str()) != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "/dev/fuse can't be mounted (", std::strerror(errno),
        "): load it with \"modprobe fuse\" (as root); a container needs "
        "\"--cap-add SYS_ADMIN --security-opt apparmor=unconfined\""));
  }
  return absl::OkStatus();
}

absl::Status TryOverlay() {
  IBEMU_RETURN_IF_ERROR(TryNamespaces());
  if (mount("ibemu", "/sys/class", "overlay", MS_RDONLY,
            "lowerdir=/sys/class:/sys/bus") != 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "overlay can't be mounted on /sys/class (", std::strerror(errno),
        "): load it with \"modprobe overlay\" (as root)"));
  }
  return absl::OkStatus();
}

// Writes to the memory of a process as the daemon writes to a client's: from a
// process that is not its parent, to one in a user namespace of its own.  The
// user who made that namespace has all capabilities in it, so Yama permits the
// access unless it forbids all of them (scope 3).
absl::Status TryMemory() {
  static volatile char target = 'a';
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "pipe2");
  const UniqueFd entered(ends[0]);
  UniqueFd entering(ends[1]);
  const pid_t victim = fork();
  if (victim < 0) return absl::ErrnoToStatus(errno, "fork");
  if (victim == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    // If this fails there is no run at all, which is the matter of another
    // finding.
    launch::EnterNamespaces().IgnoreError();
    entering.Reset();
    pause();
    _exit(0);
  }
  entering.Reset();
  char nothing = 0;
  (void)!read(entered.get(), &nothing, 1);  // returns at the end of file
  absl::Status written = launch::InChild([victim] {
    char byte = 'b';
    const iovec local{&byte, 1};
    const iovec remote{const_cast<char*>(&target), 1};
    return process_vm_writev(victim, &local, 1, &remote, 1, 0) == 1
               ? absl::OkStatus()
               : absl::ErrnoToStatus(errno, "process_vm_writev");
  });
  kill(victim, SIGKILL);
  waitpid(victim, nullptr, 0);
  return written;
}

}  // namespace

DoctorTrials TryEverything() {
  return {.namespaces = launch::InChild(TryNamespaces),
          .fuse = launch::InChild(TryFuse),
          .overlay = launch::InChild(TryOverlay),
          .uring = launch::InChild([] { return UringLoop::Create().status(); }),
          .memory = TryMemory(),
          .network = launch::InChild(&launch::TryNetwork)};
}

}  // namespace ibemu::cli
