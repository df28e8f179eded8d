// What a daemon that runs does without.
#ifndef IBEMU_DAEMON_HARDENING_H_
#define IBEMU_DAEMON_HARDENING_H_

#include <linux/capability.h>

#include <cstdint>

#include "absl/status/status.h"

namespace ibemu::daemon {

// Both give up for good what serving does not need; call them before the first
// thread starts.

// What DropCapabilities() may keep.  With CAP_SYS_PTRACE root reaches the
// memory of clients that changed their user; /proc/TID/syscall, which says
// where in it a reply goes, is a file of theirs.
inline constexpr uint64_t kServesOneUser = uint64_t{1} << CAP_SYS_PTRACE;
inline constexpr uint64_t kServesEveryUser =
    kServesOneUser | uint64_t{1} << CAP_DAC_READ_SEARCH;
// With CAP_IPC_LOCK more memory than RLIMIT_MEMLOCK can be shown to an adapter.
inline constexpr uint64_t kDrivesAdapters = uint64_t{1} << CAP_IPC_LOCK;

// Capabilities (all but `kept`) and new privileges.
absl::Status DropCapabilities(uint64_t kept);

// System calls such as execve() and mount().  process_vm_writev() and ptrace()
// stay: replies go through them.  Fails where the kernel or a sandbox has no
// seccomp filters.
absl::Status ForbidSystemCalls();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_HARDENING_H_
