// Checks of a client of the control socket: its user, its PID namespace and the
// descriptor that it sends.
#ifndef IBEMU_CONTROL_PEER_H_
#define IBEMU_CONTROL_PEER_H_

#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace ibemu::control {

// The process at the other end of a connected unix socket.  Only our own user
// may be there, whatever the socket's mode says.
//
// Errors: PermissionDenied when it is another user's.
absl::StatusOr<pid_t> CheckPeer(int socket);

// FUSE requests carry thread ids of the mounter's PID namespace: they name the
// right threads only if that is ours.
//
// Errors: PermissionDenied when `pid` lives in another one, or can't be seen.
absl::Status CheckPidNamespace(pid_t pid);

// The kernel, and nobody else, must be at the other end of a "FUSE" descriptor:
// a socket could forge the ids and addresses that we act on.
//
// Errors: InvalidArgument unless it is an open /dev/fuse.
absl::Status CheckFuseDescriptor(int fd);

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_PEER_H_
