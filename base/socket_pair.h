// Two connected sockets, of this process and what it starts or passes one to.
#ifndef IBEMU_BASE_SOCKET_PAIR_H_
#define IBEMU_BASE_SOCKET_PAIR_H_

#include <sys/socket.h>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu {

// The ends are alike; neither outlives an exec() by itself.
struct SocketPair {
  UniqueFd ours;
  UniqueFd theirs;
};

// Makes Unix sockets of this type.
//
// Errors: those of socketpair(2).
absl::StatusOr<SocketPair> MakeSocketPair(int type = SOCK_STREAM);

}  // namespace ibemu

#endif  // IBEMU_BASE_SOCKET_PAIR_H_
