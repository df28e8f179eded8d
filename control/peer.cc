#include "control/peer.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cerrno>
#include <string>

#include "absl/strings/str_cat.h"

namespace ibemu::control {

absl::StatusOr<pid_t> CheckPeer(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0) {
    return absl::ErrnoToStatus(errno, "SO_PEERCRED");
  }
  if (peer.uid != geteuid()) {
    return absl::PermissionDeniedError(
        absl::StrCat("this is the daemon of user ", geteuid(), ", not of user ",
                     peer.uid, ": start one of your own"));
  }
  return peer.pid;
}

absl::Status CheckPidNamespace(pid_t pid) {
  struct stat theirs;
  struct stat ours;
  const std::string path = absl::StrCat("/proc/", pid, "/ns/pid");
  if (pid <= 0 || stat(path.c_str(), &theirs) != 0 ||
      stat("/proc/self/ns/pid", &ours) != 0 || theirs.st_dev != ours.st_dev ||
      theirs.st_ino != ours.st_ino) {
    return absl::PermissionDeniedError(
        "the daemon and the caller are in different PID namespaces: start "
        "ibemud in the container in which \"ibemu run\" is used");
  }
  return absl::OkStatus();
}

absl::Status CheckFuseDescriptor(int fd) {
  constexpr unsigned kMisc = 10;  // Linux: Documentation/admin-guide/devices
  constexpr unsigned kFuse = 229;
  struct stat status;
  if (fd < 0) {
    return absl::InvalidArgumentError("no /dev/fuse came with the request");
  }
  if (fstat(fd, &status) != 0 || !S_ISCHR(status.st_mode) ||
      status.st_rdev != makedev(kMisc, kFuse)) {
    return absl::InvalidArgumentError(
        "the descriptor that came with the request is no /dev/fuse");
  }
  return absl::OkStatus();
}

}  // namespace ibemu::control
