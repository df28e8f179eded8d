// Restrictions that a daemon, or ibemu-peers, puts on itself before it serves.
#ifndef IBEMU_LAUNCH_HARDENING_H_
#define IBEMU_LAUNCH_HARDENING_H_

#include <linux/capability.h>

#include <cstdint>

#include "absl/status/status.h"

namespace ibemu::launch {

// The two functions below permanently give up rights that serving does not
// need.  Call them before the first thread starts.

// Sets of capabilities for DropCapabilities() to keep.  CAP_SYS_PTRACE lets
// root reach the memory of clients that are other users.  CAP_DAC_OVERRIDE lets
// it open their /proc/PID/mem, which stays with the program that registered
// memory, and their /proc/TID/syscall, which tells where a reply goes.
inline constexpr uint64_t kReachesClients =
    uint64_t{1} << CAP_SYS_PTRACE | uint64_t{1} << CAP_DAC_OVERRIDE;
// CAP_IPC_LOCK lets an adapter be shown more memory than RLIMIT_MEMLOCK.
inline constexpr uint64_t kDrivesAdapters = uint64_t{1} << CAP_IPC_LOCK;

// Gives up all capabilities but `kept`, and the right to gain new privileges.
absl::Status DropCapabilities(uint64_t kept);

// Forbids system calls such as execve() and mount().  process_vm_writev() and
// ptrace() stay allowed, because replies need them.  Fails where the kernel or
// a sandbox has no seccomp filters.
absl::Status ForbidSystemCalls();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_HARDENING_H_
