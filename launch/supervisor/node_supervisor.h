// NodeSupervisor: the process that makes a file of a FUSE mount pass for a
// character device, in a run.
#ifndef IBEMU_LAUNCH_SUPERVISOR_NODE_SUPERVISOR_H_
#define IBEMU_LAUNCH_SUPERVISOR_NODE_SUPERVISOR_H_

#include <functional>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"
#include "launch/supervisor/seccomp.h"

namespace ibemu::launch {

// A NodeSupervisor answers the system calls that the run's filter (seccomp.h)
// stops:
//
//   open    of our uverbsN and rdma_cm: puts the FUSE file behind it
//           (cuse::TreeNode) among the descriptors `fds`; beside a uverbsN some
//           files of events, for commands that answer with a descriptor; tells
//           the daemon (cuse::UverbsOffers)
//   fstat   of such a one: says what sysfs says
//   write   of CREATE_CQ: adds files of events, in place of those in use
//
// libibverbs wants uverbsN to be a character device with the number that
// sysfs shows, librdmacm wants rdma_cm to be one, and both that the kernel
// gives them new descriptors.  The mount shows such a device, but the kernel
// opens none there.
//
// Everything else goes on as if nothing had been.  It runs in a process of its
// own, as long as any process has the filter: without it, what the filter stops
// fails with ENOSYS, also for those that outlive their run.
class NodeSupervisor {
 public:
  // Forks; to be called in the namespaces of the run, by a process that has one
  // thread.
  static absl::StatusOr<NodeSupervisor> Fork(NodeFds fds);

  NodeSupervisor(NodeSupervisor&&) = default;
  NodeSupervisor& operator=(NodeSupervisor&&) = default;

  // In the process that has the filter: hands the filter's listener over.
  // Without one, there is nothing to supervise.
  absl::Status HandOver(UniqueFd listener);

 private:
  explicit NodeSupervisor(UniqueFd socket) : socket_(std::move(socket)) {}

  UniqueFd socket_;
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_NODE_SUPERVISOR_H_
