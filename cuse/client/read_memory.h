// ReadMemory(): a read of a client's memory.
#ifndef IBEMU_CUSE_CLIENT_READ_MEMORY_H_
#define IBEMU_CUSE_CLIENT_READ_MEMORY_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/status.h"

namespace ibemu::cuse {

// Fills `data` from `address` in the memory of thread `tid`.  It may block: see
// WorkerPool.  Errors: PermissionDenied, NotFound (the thread is gone),
// FailedPrecondition (nothing or not enough is mapped there).
absl::Status ReadMemory(pid_t tid, uint64_t address, std::span<std::byte> data);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_READ_MEMORY_H_
