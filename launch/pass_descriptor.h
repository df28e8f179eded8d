// A descriptor by itself, from one process to another.
#ifndef IBEMU_LAUNCH_PASS_DESCRIPTOR_H_
#define IBEMU_LAUNCH_PASS_DESCRIPTOR_H_

#include "absl/status/status.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// Sends `fd` through a unix socket, without waiting; it stays open here.
//
// Errors: those of sendmsg(2), EAGAIN when the other end takes nothing.
absl::Status SendDescriptor(int socket, int fd);

// Receives what SendDescriptor() sent; none when the socket is closed instead.
UniqueFd ReceiveDescriptor(int socket);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_PASS_DESCRIPTOR_H_
