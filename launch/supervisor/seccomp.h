// The system call filter of a run.
#ifndef IBEMU_LAUNCH_SUPERVISOR_SECCOMP_H_
#define IBEMU_LAUNCH_SUPERVISOR_SECCOMP_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// The numbers that descriptors of uverbs and rdma_cm have: a filter tells them
// from others by their number.
struct NodeFds {
  int first = 0;  // a multiple of `count`
  int count = 1;  // a power of two

  int end() const { return first + count; }
  bool operator==(const NodeFds&) const = default;
};

// Returns those numbers for processes that may have `limit` descriptors
// (RLIMIT_NOFILE): 512, for each connection may have an rdma_cm of its own, or
// half of the limit where it is too low for that, and the highest that fit. But
// all are below 1,024 (FD_SETSIZE), for select() has no others.
NodeFds NodeFdsFor(unsigned long limit);

// Filters system calls in this thread and all that come from it.  Others, and
// those of other architectures (32-bit programs), pass.
//
// socket(AF_NETLINK, *, NETLINK_RDMA) fails with EPROTONOSUPPORT: libibverbs
// and librdmacm then read sysfs instead of asking the kernel, which knows
// nothing of ibemu's devices.
//
// These wait for whoever serves the returned descriptor (NodeCalls): open() for
// reading and writing, with no more than O_CLOEXEC and O_NONBLOCK; fstat() and
// its like of one of the descriptors `fds`, and write() of 40 bytes to one,
// which CREATE_CQ has.  -1: it can't be had, for an outer filter has the one
// that a process may have; then these pass, too.
//
// A signal that comes while a call waits may end it with EINTR, so what never
// fails so on Linux must not be stopped: REQ_NOTIFY_CQ, or POLL_CQ.
//
// The thread must have CAP_SYS_ADMIN in its user namespace, as a launcher has,
// or no_new_privs: then setuid programs keep working in a run.
absl::StatusOr<UniqueFd> FilterSystemCalls(NodeFds fds);

// The same, with its first rule alone: whatever adapters the kernel knows of
// are none to libibverbs.
absl::Status HideKernelAdapters();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_SECCOMP_H_
