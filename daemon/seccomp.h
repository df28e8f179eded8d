// The system call filter of a run.
#ifndef IBEMU_DAEMON_SECCOMP_H_
#define IBEMU_DAEMON_SECCOMP_H_

#include "absl/status/status.h"

namespace ibemu::daemon {

// Makes socket(AF_NETLINK, *, NETLINK_RDMA) fail with EPROTONOSUPPORT in this
// thread and all that come from it: libibverbs and librdmacm then read sysfs
// instead of asking the kernel, which knows nothing of ibemu's devices.  Other
// system calls, and those of other architectures (32-bit programs), pass.
//
// The thread must have CAP_SYS_ADMIN in its user namespace, as a launcher has,
// or no_new_privs: then setuid programs keep working in a run.
absl::Status RefuseRdmaNetlink();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SECCOMP_H_
