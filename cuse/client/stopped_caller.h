// StoppedCaller: a client's thread that we have stopped in a request to us.
#ifndef IBEMU_CUSE_CLIENT_STOPPED_CALLER_H_
#define IBEMU_CUSE_CLIENT_STOPPED_CALLER_H_

#include <sys/types.h>

#include <cstddef>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "mad/address.h"

namespace ibemu::cuse {

// A blocked thread that ptrace stops on its way back to user space.  REQUIRES:
// all calls are made on one thread, which is a worker.
class StoppedCaller {
 public:
  // Errors: PermissionDenied, Unimplemented (another architecture).
  static absl::StatusOr<StoppedCaller> Seize(pid_t tid);

  StoppedCaller(StoppedCaller&& other) noexcept;
  StoppedCaller& operator=(StoppedCaller&&) = delete;
  ~StoppedCaller();  // lets it run

  // The id of the thread; 0 once it has died.
  pid_t tid() const { return tid_; }

  // Waits for the next stop, and returns its status as in waitpid(2).
  //
  // Errors: NotFound if the thread died.
  absl::StatusOr<int> Wait();

  // Waits until the thread has its answer and stops, so another thread must
  // answer its request.  Then does what FillReadBuffer() does, with the same
  // errors, for kernels without /proc/TID/syscall.
  absl::Status Fill(size_t room, mad::Bytes data);

 private:
  explicit StoppedCaller(pid_t tid) : tid_(tid) {}

  pid_t tid_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_STOPPED_CALLER_H_
