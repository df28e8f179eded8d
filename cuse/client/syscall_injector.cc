#include "cuse/client/syscall_injector.h"

#include <sys/syscall.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>

#include "base/status_macros.h"

#if defined(__x86_64__)

namespace ibemu::cuse {
namespace {

constexpr uint64_t kRedZone = 128;           // below the stack pointer: in use
constexpr uint64_t kSyscallInstruction = 2;  // bytes
constexpr uint64_t kUserCode64 = 0x33;       // __USER_CS, of 64-bit programs
constexpr int64_t kRestart = 512;  // ERESTARTSYS: the kernel would repeat it

void* MaskSize() { return reinterpret_cast<void*>(8); }

}  // namespace

absl::Status SyscallInjector::Prepare() {
  IBEMU_RETURN_IF_ERROR(
      Trace(PTRACE_GETREGS, nullptr, &registers_, "PTRACE_GETREGS"));
  const auto result = static_cast<int64_t>(registers_.rax);
  if (registers_.cs != kUserCode64 || registers_.orig_rax != SYS_write ||
      (result != -EINTR && result != -kRestart)) {
    return absl::FailedPreconditionError("not in that write()");
  }
  // Keeps the kernel from repeating the call, as it does after ERESTART*.
  registers_.orig_rax = static_cast<uint64_t>(-1);
  return absl::OkStatus();
}

int SyscallInjector::descriptor() const {
  return static_cast<int>(registers_.rdi);
}

absl::Status SyscallInjector::Borrow() {
  constexpr uint64_t kAll = ~uint64_t{0};
  IBEMU_RETURN_IF_ERROR(Trace(PTRACE_SETOPTIONS, nullptr,
                              reinterpret_cast<void*>(PTRACE_O_TRACESYSGOOD),
                              "PTRACE_SETOPTIONS"));
  IBEMU_RETURN_IF_ERROR(
      Trace(PTRACE_GETSIGMASK, MaskSize(), &signals_, "PTRACE_GETSIGMASK"));
  uint64_t all = kAll;
  IBEMU_RETURN_IF_ERROR(
      Trace(PTRACE_SETSIGMASK, MaskSize(), &all, "PTRACE_SETSIGMASK"));
  masked_ = true;
  for (size_t i = 0; i < stack_.size(); ++i) {
    errno = 0;
    const long word = ptrace(PTRACE_PEEKDATA, tid_, Address(i), nullptr);
    if (errno != 0) return absl::ErrnoToStatus(errno, "PTRACE_PEEKDATA");
    stack_[i] = static_cast<uint64_t>(word);
  }
  return absl::OkStatus();
}

uint64_t SyscallInjector::scratch() const {
  return (registers_.rsp - kRedZone - sizeof(Words)) & ~uint64_t{15};
}

absl::Status SyscallInjector::Put(const Words& words) {
  for (size_t i = 0; i < words.size(); ++i) {
    IBEMU_RETURN_IF_ERROR(Trace(PTRACE_POKEDATA, Address(i),
                                reinterpret_cast<void*>(words[i]),
                                "PTRACE_POKEDATA"));
    written_ = true;
  }
  return absl::OkStatus();
}

absl::StatusOr<int64_t> SyscallInjector::Call(uint64_t number, uint64_t a,
                                              uint64_t b, uint64_t c) {
  user_regs_struct call = registers_;
  call.rip -= kSyscallInstruction;
  call.rax = number;
  call.rdi = a;
  call.rsi = b;
  call.rdx = c;
  call.r10 = 0;
  IBEMU_RETURN_IF_ERROR(
      Trace(PTRACE_SETREGS, nullptr, &call, "PTRACE_SETREGS"));
  IBEMU_RETURN_IF_ERROR(RunToSyscallStop());  // its entry
  IBEMU_RETURN_IF_ERROR(RunToSyscallStop());  // its exit
  IBEMU_RETURN_IF_ERROR(
      Trace(PTRACE_GETREGS, nullptr, &call, "PTRACE_GETREGS"));
  return static_cast<int64_t>(call.rax);
}

void SyscallInjector::GoOn(int error) {
  if (written_) Put(stack_).IgnoreError();
  if (masked_) ptrace(PTRACE_SETSIGMASK, tid_, MaskSize(), &signals_);
  if (error == 0) {
    registers_.rip -= kSyscallInstruction;
    registers_.rax = SYS_write;
  } else {
    registers_.rax = static_cast<uint64_t>(-error);
  }
  ptrace(PTRACE_SETREGS, tid_, nullptr, &registers_);
}

void* SyscallInjector::Address(size_t word) const {
  return reinterpret_cast<void*>(scratch() + word * sizeof(uint64_t));
}

absl::Status SyscallInjector::Trace(__ptrace_request request, void* address,
                                    void* data, const char* name) {
  return ptrace(request, tid_, address, data) < 0
             ? absl::ErrnoToStatus(errno, name)
             : absl::OkStatus();
}

// Lets the thread run to the next system call stop.  SIGSTOP can't be held
// back: it is delivered, and the stop of the whole process begins when the
// thread is detached.
absl::Status SyscallInjector::RunToSyscallStop() {
  constexpr int kSyscallStop = SIGTRAP | 0x80;
  uintptr_t signal = 0;
  while (true) {
    IBEMU_RETURN_IF_ERROR(Trace(PTRACE_SYSCALL, nullptr,
                                reinterpret_cast<void*>(signal),
                                "PTRACE_SYSCALL"));
    IBEMU_ASSIGN_OR_RETURN(const int status, caller_.Wait());
    const int stop = WSTOPSIG(status);
    if (stop == kSyscallStop) return absl::OkStatus();
    const bool is_event = status >> 16 != 0;
    signal = is_event ? 0 : static_cast<uintptr_t>(stop);
  }
}

}  // namespace ibemu::cuse

#endif  // __x86_64__
