// StoppedCaller::GiveEventFile(), with system calls that a client is made to
// execute for us.
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "base/event_number.h"
#include "base/status_macros.h"
#include "cuse/client/caller_memory.h"

#if defined(__x86_64__)

namespace ibemu::cuse {
namespace {

using Words = std::array<uint64_t, 5>;

constexpr uint64_t kRedZone = 128;           // below the stack pointer: in use
constexpr uint64_t kSyscallInstruction = 2;  // bytes
constexpr uint64_t kUserCode64 = 0x33;       // __USER_CS, of 64-bit programs
constexpr int64_t kRestart = 512;  // ERESTARTSYS: the kernel would repeat it

}  // namespace

// A thread that has stopped at the end of a system call, and can be made to
// execute others.  These leave its registers, its stack and its signal mask as
// they were.  Signals wait until it goes on.
class StoppedCaller::Puppet {
 public:
  explicit Puppet(StoppedCaller& caller) : caller_(caller), tid_(caller.tid_) {}
  Puppet(const Puppet&) = delete;
  Puppet& operator=(const Puppet&) = delete;

  // Reads the registers.  Errors: FailedPrecondition if the thread does not
  // come from an interrupted write() of a 64-bit program; those of ptrace().
  absl::Status Prepare() {
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

  int descriptor() const { return static_cast<int>(registers_.rdi); }

  // Blocks all signals, and saves the stack.  Errors: those of ptrace().
  absl::Status Borrow() {
    constexpr uint64_t kAll = ~uint64_t{0};
    IBEMU_RETURN_IF_ERROR(Trace(PTRACE_SETOPTIONS, nullptr,
                                reinterpret_cast<void*>(PTRACE_O_TRACESYSGOOD),
                                "PTRACE_SETOPTIONS"));
    IBEMU_RETURN_IF_ERROR(
        Trace(PTRACE_GETSIGMASK, kMaskSize, &signals_, "PTRACE_GETSIGMASK"));
    uint64_t all = kAll;
    IBEMU_RETURN_IF_ERROR(
        Trace(PTRACE_SETSIGMASK, kMaskSize, &all, "PTRACE_SETSIGMASK"));
    masked_ = true;
    for (size_t i = 0; i < stack_.size(); ++i) {
      errno = 0;
      const long word = ptrace(PTRACE_PEEKDATA, tid_, Address(i), nullptr);
      if (errno != 0) return absl::ErrnoToStatus(errno, "PTRACE_PEEKDATA");
      stack_[i] = static_cast<uint64_t>(word);
    }
    return absl::OkStatus();
  }

  uint64_t scratch() const {
    return (registers_.rsp - kRedZone - sizeof(Words)) & ~uint64_t{15};
  }
  absl::Status Put(const Words& words) {
    for (size_t i = 0; i < words.size(); ++i) {
      IBEMU_RETURN_IF_ERROR(Trace(PTRACE_POKEDATA, Address(i),
                                  reinterpret_cast<void*>(words[i]),
                                  "PTRACE_POKEDATA"));
      written_ = true;
    }
    return absl::OkStatus();
  }

  // Executes a system call, and returns its result, which may be a negative
  // errno.
  absl::StatusOr<int64_t> Call(uint64_t number, uint64_t a, uint64_t b,
                               uint64_t c) {
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

  // Restores everything.  The write() begins anew if `error` is 0, and else has
  // failed with it.
  void GoOn(int error) {
    if (written_) Put(stack_).IgnoreError();
    if (masked_) ptrace(PTRACE_SETSIGMASK, tid_, kMaskSize, &signals_);
    if (error == 0) {
      registers_.rip -= kSyscallInstruction;
      registers_.rax = SYS_write;
    } else {
      registers_.rax = static_cast<uint64_t>(-error);
    }
    ptrace(PTRACE_SETREGS, tid_, nullptr, &registers_);
  }

 private:
  static inline void* const kMaskSize = reinterpret_cast<void*>(8);

  void* Address(size_t word) const {
    return reinterpret_cast<void*>(scratch() + word * sizeof(uint64_t));
  }

  absl::Status Trace(__ptrace_request request, void* address, void* data,
                     const char* name) {
    return ptrace(request, tid_, address, data) < 0
               ? absl::ErrnoToStatus(errno, name)
               : absl::OkStatus();
  }

  // Lets the thread run to the next system call stop.  SIGSTOP can't be held
  // back: it is delivered, and the stop of the whole process begins when the
  // thread is detached.
  absl::Status RunToSyscallStop() {
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

  StoppedCaller& caller_;
  const pid_t tid_;
  user_regs_struct registers_{};  // as they were
  uint64_t signals_ = 0;
  Words stack_{};
  bool masked_ = false;
  bool written_ = false;
};

// Returns the status of a call that the kernel refused to the client.
static absl::Status Refused(int64_t error, const char* call) {
  return absl::AbortedError(
      absl::ErrnoToStatus(static_cast<int>(error), call).message());
}

absl::Status StoppedCaller::GiveEventFile() {
  IBEMU_RETURN_IF_ERROR(Wait().status());
  Puppet client(*this);
  IBEMU_RETURN_IF_ERROR(client.Prepare());

  int error = 0;  // of its write()
  absl::Status given = [&]() -> absl::Status {
    IBEMU_RETURN_IF_ERROR(client.Borrow());
    // This path works whatever the client's root directory is, and whatever has
    // become of the node.
    Words path{};
    std::snprintf(reinterpret_cast<char*>(path.data()), sizeof path,
                  "/proc/thread-self/fd/%d", client.descriptor());
    IBEMU_RETURN_IF_ERROR(client.Put(path));
    IBEMU_ASSIGN_OR_RETURN(
        const int64_t number,
        client.Call(SYS_openat, static_cast<uint64_t>(AT_FDCWD),
                    client.scratch(), O_RDONLY | O_CLOEXEC));
    if (number == -EMFILE || number == -ENFILE) {
      error = static_cast<int>(-number);
      return absl::ResourceExhaustedError("no descriptor is left");
    }
    if (number < 0) {
      return Refused(-number, "openat");
    }
    const EventNumber told{.tid = 0, .number = static_cast<int32_t>(number)};
    Words argument{};
    std::memcpy(argument.data(), &told, sizeof told);
    IBEMU_RETURN_IF_ERROR(client.Put(argument));
    const auto file = static_cast<uint64_t>(number);
    IBEMU_ASSIGN_OR_RETURN(
        const int64_t done,
        client.Call(SYS_ioctl, file, kNumberEventFile, client.scratch()));
    if (done >= 0) return absl::OkStatus();
    IBEMU_RETURN_IF_ERROR(client.Call(SYS_close, file, 0, 0).status());
    return Refused(-done, "ioctl");
  }();
  if (tid_ == 0) return absl::NotFoundError("it died");
  client.GoOn(error);
  // NotFound means that it died between two of its stops (ESRCH).
  if (given.ok() || error != 0 || absl::IsNotFound(given)) return given;
  return absl::AbortedError(given.message());
}

}  // namespace ibemu::cuse

#endif  // __x86_64__
