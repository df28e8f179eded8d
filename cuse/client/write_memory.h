// WriteMemory(): a write to a client's memory.
#ifndef IBEMU_CUSE_CLIENT_WRITE_MEMORY_H_
#define IBEMU_CUSE_CLIENT_WRITE_MEMORY_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"
#include "mad/address.h"

namespace ibemu::cuse {

// Writes `data` to `address` in the memory of thread `tid`.  It may block: see
// WorkerPool.  Errors: PermissionDenied, NotFound (the thread is gone),
// FailedPrecondition (nothing or not enough is mapped there, or it is
// read-only).
absl::Status WriteMemory(pid_t tid, uint64_t address, mad::Bytes data);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_WRITE_MEMORY_H_
