// What a daemon that runs does without.
#ifndef IBEMU_DAEMON_HARDENING_H_
#define IBEMU_DAEMON_HARDENING_H_

#include "absl/status/status.h"

namespace ibemu::daemon {

// Gives up, for good, what serving does not need: capabilities (all but
// CAP_SYS_PTRACE, with which root reaches the memory of clients that changed
// their user), new privileges, and system calls such as execve() and mount().
// process_vm_writev() and ptrace() stay: replies go through them.
//
// Call it before the first thread starts.
absl::Status DropPrivileges();

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_HARDENING_H_
