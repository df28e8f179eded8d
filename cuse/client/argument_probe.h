// Whether the caller of an ioctl can be given an answer.
#ifndef IBEMU_CUSE_CLIENT_ARGUMENT_PROBE_H_
#define IBEMU_CUSE_CLIENT_ARGUMENT_PROBE_H_

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "base/worker_pool.h"

namespace ibemu::cuse {

// The kernel copies the answer to the client when all is over here, and does
// not tell us if it can't.  So a file that must undo what it did (Linux's
// put_user() fails) has to know before: this writes `argument`, which the
// blocked thread `tid` has at `address`, to where it is.
//
// Calls `answer` once, on the loop thread, after returning; not at all when
// `workers` ends first.  True also if it can't be known, for lack of rights.
void ProbeArgument(WorkerPool& workers, pid_t tid, uint64_t address,
                   std::vector<std::byte> argument,
                   absl::AnyInvocable<void(bool writable)> answer);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_ARGUMENT_PROBE_H_
