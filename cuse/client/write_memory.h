// Shared by the ways to a client's memory; see caller_memory.h.
#ifndef IBEMU_CUSE_CLIENT_WRITE_MEMORY_H_
#define IBEMU_CUSE_CLIENT_WRITE_MEMORY_H_

#include <sys/types.h>

#include <cstdint>

#include "absl/status/status.h"
#include "mad/address.h"

namespace ibemu::cuse {

// It may be held up: see WorkerPool.  PermissionDenied, NotFound (thread gone),
// FailedPrecondition (nothing or not enough mapped there, or read-only).
absl::Status WriteMemory(pid_t tid, uint64_t address, mad::Bytes data);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_WRITE_MEMORY_H_
