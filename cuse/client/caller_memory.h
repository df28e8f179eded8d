// The memory of a client whose thread is blocked in a request to us.
#ifndef IBEMU_CUSE_CLIENT_CALLER_MEMORY_H_
#define IBEMU_CUSE_CLIENT_CALLER_MEMORY_H_

#include <sys/types.h>

#include <array>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/worker_pool.h"
#include "mad/address.h"

namespace ibemu::cuse {

// The system call that a blocked thread is in, as /proc/TID/syscall says it.
struct BlockedCall {
  int64_t number = 0;
  std::array<uint64_t, 6> arguments{};
};

// Doesn't touch the client's memory, so it may be called anywhere.  Takes
// `tries` looks: a thread that has just sent its request may still be on its
// way to sleep.
//
// Errors:
//   NotFound          the thread is gone, or this kernel has no such file (UML)
//   PermissionDenied  we may not look (another user's, a set-uid program)
//   Unavailable       it kept running
absl::StatusOr<BlockedCall> CallOf(pid_t tid, int tries = 1);

// The size that the blocked thread passed to read() or write(), else nothing.
absl::StatusOr<size_t> SizeOfRead(pid_t tid);
absl::StatusOr<size_t> SizeOfWrite(pid_t tid);

// Whose thread it is, so that a client's jobs can be told from others'.  A
// thread that can't be looked up stands for itself.
ClientId ClientOf(pid_t tid);

// Copies `data` to where the thread, blocked in read() of exactly `room` bytes,
// wants to have it.  On a worker only: it takes page faults of the client.
//
// Errors: those of CallOf(); FailedPrecondition when it is in another call.
absl::Status FillReadBuffer(pid_t tid, size_t room, mad::Bytes data);

// A blocked thread that ptrace stops on its way back to user space.  One
// thread, a worker, must make all calls.
class StoppedCaller {
 public:
  // Errors: PermissionDenied, Unimplemented (another architecture).
  static absl::StatusOr<StoppedCaller> Seize(pid_t tid);

  StoppedCaller(StoppedCaller&& other) noexcept;
  StoppedCaller& operator=(StoppedCaller&&) = delete;
  ~StoppedCaller();  // lets it run

  // Waits until the thread has its answer and stops; so the request must be
  // answered by another thread.  FillReadBuffer() for kernels without
  // /proc/TID/syscall, with its errors.
  absl::Status Fill(size_t room, mad::Bytes data);

  // Waits until the write() of the thread was interrupted.  Then, before
  // the client notices, makes it open the file that it wrote to once more, for
  // reading, and tell it its number (base/event_number.h); then write again
  // what it wrote before.
  //
  // Errors:
  //   ResourceExhausted   it has no descriptor left: its write() ends so
  //   NotFound            it died
  //   FailedPrecondition  it is in another call, and left alone
  //   Aborted             it does write again, but has no such file
  absl::Status GiveEventFile();

 private:
  class Puppet;

  explicit StoppedCaller(pid_t tid) : tid_(tid) {}
  // For the next stop: its status of waitpid(2).
  absl::StatusOr<int> Wait();

  pid_t tid_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_CALLER_MEMORY_H_
