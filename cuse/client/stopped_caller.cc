#include "cuse/client/stopped_caller.h"

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <utility>

#include "base/status_macros.h"
#include "cuse/client/write_memory.h"

namespace ibemu::cuse {

StoppedCaller::StoppedCaller(StoppedCaller&& other) noexcept
    : tid_(std::exchange(other.tid_, 0)) {}

#if defined(__x86_64__)

absl::StatusOr<StoppedCaller> StoppedCaller::Seize(pid_t tid) {
  if (ptrace(PTRACE_SEIZE, tid, nullptr, nullptr) < 0) {
    return absl::ErrnoToStatus(errno, "PTRACE_SEIZE");
  }
  StoppedCaller seized(tid);
  if (ptrace(PTRACE_INTERRUPT, tid, nullptr, nullptr) < 0) {
    return absl::ErrnoToStatus(errno, "PTRACE_INTERRUPT");
  }
  return seized;
}

StoppedCaller::~StoppedCaller() {
  if (tid_ == 0) return;
  // Only a stopped thread can be detached.
  if (ptrace(PTRACE_DETACH, tid_, nullptr, nullptr) < 0 &&
      waitpid(tid_, nullptr, __WALL) == tid_) {
    ptrace(PTRACE_DETACH, tid_, nullptr, nullptr);
  }
}

absl::StatusOr<int> StoppedCaller::Wait() {
  int status = 0;
  if (waitpid(tid_, &status, __WALL) != tid_ || !WIFSTOPPED(status)) {
    tid_ = 0;  // it died
    return absl::NotFoundError("the thread is gone");
  }
  return status;
}

absl::Status StoppedCaller::Fill(size_t room, mad::Bytes data) {
  IBEMU_RETURN_IF_ERROR(Wait().status());
  user_regs_struct registers{};
  if (ptrace(PTRACE_GETREGS, tid_, nullptr, &registers) < 0) {
    return absl::ErrnoToStatus(errno, "PTRACE_GETREGS");
  }
  if (registers.orig_rax != SYS_read || registers.rdx != room) {
    return absl::FailedPreconditionError("not in that read()");
  }
  return WriteMemory(tid_, registers.rsi, data);
}

#else

absl::StatusOr<StoppedCaller> StoppedCaller::Seize(pid_t /*tid*/) {
  return absl::UnimplementedError("registers of this architecture");
}

StoppedCaller::~StoppedCaller() = default;

absl::StatusOr<int> StoppedCaller::Wait() {
  return absl::UnimplementedError("registers of this architecture");
}

absl::Status StoppedCaller::Fill(size_t /*room*/, mad::Bytes /*data*/) {
  return absl::UnimplementedError("registers of this architecture");
}

#endif

}  // namespace ibemu::cuse
