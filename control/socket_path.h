// The paths of control sockets and of the directory that holds them.
#ifndef IBEMU_CONTROL_SOCKET_PATH_H_
#define IBEMU_CONTROL_SOCKET_PATH_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace ibemu::control {

// The user's own directory of control sockets: /run/ibemu for root, else
// $XDG_RUNTIME_DIR/ibemu (if that variable names a directory of ours), else
// /tmp/ibemu-UID, or /dev/shm/ibemu-UID where /tmp is read-only, as in many
// containers.  It need not exist.
std::string SocketDirectory();

// Makes SocketDirectory() (0700) or verifies that nobody else can write to it.
//
// Errors: FailedPrecondition when it is another user's, open to others, or no
// directory.
absl::Status PrepareSocketDirectory(const std::string& directory);

// The path of a fabric's socket.  `fabric` is a name, or a path if it has a
// slash; empty: $IBEMU_FABRIC, else "default".
//
// Errors: InvalidArgument when it is no name (letters, digits, '.', '_', '-')
// or the path is too long for a socket address (107 bytes).
absl::StatusOr<std::string> SocketPath(std::string_view fabric);

}  // namespace ibemu::control

#endif  // IBEMU_CONTROL_SOCKET_PATH_H_
