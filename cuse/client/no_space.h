// DeliverNoSpace(): a read() that fails with ENOSPC and still leaves data in
// the buffer.
#ifndef IBEMU_CUSE_CLIENT_NO_SPACE_H_
#define IBEMU_CUSE_CLIENT_NO_SPACE_H_

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/worker_pool.h"

namespace ibemu::cuse {

// The way to answer the request.
enum class NoSpaceAnswer {
  kNoSpace,    // with ENOSPC: the data are or will be in the buffer
  kFaultLast,  // with the data and one byte more that can't be read: the client
               // sees EIO, and the data.  libibumad makes do with that.
  kFault,      // with EFAULT: its buffer can't be reached in time
};

// Puts `data` into the buffer of a client whose read() fails with ENOSPC.  A
// FUSE reply holds either data or an errno, so the data go to the blocked
// client's memory in the first of these ways that works: /proc/TID/syscall and
// process_vm_writev, ptrace, a reply that breaks off.
//
// Calls `answer` once, on the loop thread, after returning; not at all if
// `workers` ends first.  REQUIRES: `tid` is blocked in a read() of `room` bytes
// until then.
void DeliverNoSpace(WorkerPool& workers, pid_t tid, size_t room,
                    std::vector<std::byte> data,
                    absl::AnyInvocable<void(NoSpaceAnswer)> answer);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_NO_SPACE_H_
