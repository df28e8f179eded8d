// The call, the process and the read() buffer of a client whose thread is
// blocked in a request to us.
#ifndef IBEMU_CUSE_CLIENT_CALLER_MEMORY_H_
#define IBEMU_CUSE_CLIENT_CALLER_MEMORY_H_

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/worker_pool.h"
#include "mad/address.h"

namespace ibemu::cuse {

// The system call that a blocked thread is in, as /proc/TID/syscall shows it.
struct BlockedCall {
  int64_t number = 0;
  std::array<uint64_t, 6> arguments{};

  bool operator==(const BlockedCall&) const = default;
};

// Returns the call of a thread.  This doesn't touch the client's memory, so any
// thread may call it.  Looks up to `tries` times, because a thread that has
// just sent its request may not be asleep yet.
//
// Errors:
//   NotFound          the thread is gone, or this kernel has no such file (UML)
//   PermissionDenied  we may not look (another user's, a set-uid program)
//   FailedPrecondition  it is asleep or stopped, but in no call
//   Unavailable       the thread kept running
absl::StatusOr<BlockedCall> CallOf(pid_t tid, int tries = 1);

// Return the size that the blocked thread passed to read() or write().  Errors:
// those of CallOf(); FailedPrecondition if it is in another call.
absl::StatusOr<size_t> SizeOfRead(pid_t tid);
absl::StatusOr<size_t> SizeOfWrite(pid_t tid);

// Returns how long the thread has had a processor.  Errors: NotFound if it is
// gone, or if this kernel does not count it (CONFIG_SCHED_INFO).
absl::StatusOr<absl::Duration> CpuTimeOf(pid_t tid);

// Returns the client that the thread belongs to, so that jobs of different
// clients can be told apart.  A thread that can't be looked up is a client of
// its own.
ClientId ClientOf(pid_t tid);

// Returns the user of a client, as whose all his clients may be counted
// together; those that are gone have one of their own.
OwnerId UserOf(ClientId client);

// Copies `data` to the buffer of a thread that is blocked in read() of exactly
// `room` bytes.  To be called only on a worker, because it may wait for page
// faults in the client's memory.
//
// Errors: those of CallOf() and WriteMemory(); FailedPrecondition if the thread
// is in another call.
absl::Status FillReadBuffer(pid_t tid, size_t room, mad::Bytes data);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_CALLER_MEMORY_H_
