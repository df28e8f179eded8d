// ProbeArgument(): a check that the caller of an ioctl can get an answer.
#ifndef IBEMU_CUSE_CLIENT_ARGUMENT_PROBE_H_
#define IBEMU_CUSE_CLIENT_ARGUMENT_PROBE_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/worker_pool.h"

namespace ibemu::cuse {

// Checks that the answer of an ioctl can be written to the client.  The kernel
// copies the answer when all work here is done, and does not report a failure
// of that copy.  So a file that must undo its work then (where Linux's
// put_user() fails) has to know beforehand.  To find out, this writes
// `argument`, which the blocked thread `tid` has at `address`, to that same
// place.
//
// Calls `answer` once, on the loop thread, after returning; not at all if
// `workers` ends first.  The answer is also true if it can't be found out, for
// lack of rights.
void ProbeArgument(WorkerPool& workers, pid_t tid, uint64_t address,
                   std::vector<std::byte> argument,
                   absl::AnyInvocable<void(bool writable)> answer);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_ARGUMENT_PROBE_H_
