// What a daemon that runs does without.
#ifndef IBEMU_DAEMON_HARDENING_H_
#define IBEMU_DAEMON_HARDENING_H_

#include "absl/status/status.h"

namespace ibemu::daemon {

// Both give up for good what serving does not need; call them before the first
// thread starts.

// Capabilities (all but CAP_SYS_PTRACE, with which root reaches the memory of
// clients that changed their user) and new privileges.
absl::Status DropCapabilities();

// System calls such as execve() and mount().  process_vm_writev() and ptrace()
// stay: replies go through them.  Fails where the kernel or a sandbox has no
// seccomp filters.
absl::Status ForbidSystemCalls();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_HARDENING_H_
