// A read() that fails with ENOSPC and leaves data in the buffer.
#ifndef IBEMU_CUSE_CLIENT_NO_SPACE_H_
#define IBEMU_CUSE_CLIENT_NO_SPACE_H_

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/worker_pool.h"

namespace ibemu::cuse {

// How the request is to be answered.
enum class NoSpaceAnswer {
  kNoSpace,    // with ENOSPC: the data are or will be in the buffer
  kFaultLast,  // with the data and one byte more that can't be read: the client
               // sees EIO, and the data.  libibumad makes do with that.
  kFault,      // with EFAULT: its buffer can't be reached in time
};

// A FUSE reply holds either data or an errno.  So the data go to the blocked
// client's memory by another way, the first of these that works:
// /proc/TID/syscall and process_vm_writev, ptrace, a reply that breaks off.
//
// Calls `answer` once, on the loop thread, after returning; not at all when
// `workers` ends first.  `tid` is blocked in a read of `room` bytes until then.
void DeliverNoSpace(WorkerPool& workers, pid_t tid, size_t room,
                    std::vector<std::byte> data,
                    absl::AnyInvocable<void(NoSpaceAnswer)> answer);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_NO_SPACE_H_
