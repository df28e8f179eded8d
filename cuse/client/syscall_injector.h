// SyscallInjector: system calls that a stopped client is made to execute.
#ifndef IBEMU_CUSE_CLIENT_SYSCALL_INJECTOR_H_
#define IBEMU_CUSE_CLIENT_SYSCALL_INJECTOR_H_

#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/user.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cuse/client/stopped_caller.h"

namespace ibemu::cuse {

// The control of a thread that has stopped at the end of a write(), and can be
// made to execute other system calls.  These leave its registers, its stack and
// its signal mask as they were.  Signals wait until it goes on.  Exists on
// x86-64 only.
class SyscallInjector {
 public:
  // The part of the thread's stack that is borrowed, as words of 64 bits.
  using Words = std::array<uint64_t, 5>;

  // REQUIRES: `caller` has stopped, and outlives this object.
  explicit SyscallInjector(StoppedCaller& caller)
      : caller_(caller), tid_(caller.tid()) {}
  SyscallInjector(const SyscallInjector&) = delete;
  SyscallInjector& operator=(const SyscallInjector&) = delete;

  // Reads the registers.  Errors: FailedPrecondition if the thread does not
  // come from an interrupted write() of a 64-bit program; those of ptrace().
  absl::Status Prepare();

  // The descriptor that the thread wrote to.
  int descriptor() const;

  // Blocks all signals, and saves the stack.  Errors: those of ptrace().
  absl::Status Borrow();

  // The address of the words that Put() writes.
  uint64_t scratch() const;

  // Errors: those of ptrace().
  absl::Status Put(const Words& words);

  // Executes a system call, and returns its result, which may be a negative
  // errno.  Errors: those of ptrace() and of StoppedCaller::Wait().
  absl::StatusOr<int64_t> Call(uint64_t number, uint64_t a, uint64_t b,
                               uint64_t c);

  // Restores everything.  The write() begins anew if `error` is 0, and else has
  // failed with it.
  void GoOn(int error);

 private:
  void* Address(size_t word) const;
  absl::Status Trace(__ptrace_request request, void* address, void* data,
                     const char* name);
  absl::Status RunToSyscallStop();

  StoppedCaller& caller_;
  const pid_t tid_;
  user_regs_struct registers_{};  // as they were
  uint64_t signals_ = 0;
  Words stack_{};
  bool masked_ = false;
  bool written_ = false;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_CLIENT_SYSCALL_INJECTOR_H_
