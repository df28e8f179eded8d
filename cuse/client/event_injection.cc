#include "cuse/client/event_injection.h"

#include <fcntl.h>
#include <sys/syscall.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/status_macros.h"
#include "base/supervisor_ioctls.h"
#include "cuse/client/syscall_injector.h"

namespace ibemu::cuse {

#if defined(__x86_64__)

namespace {

// Returns the status of a call that the kernel refused to the client.
absl::Status Refused(int64_t error, const char* call) {
  return absl::AbortedError(
      absl::ErrnoToStatus(static_cast<int>(error), call).message());
}

}  // namespace

absl::Status InjectEventFile(StoppedCaller& caller) {
  IBEMU_RETURN_IF_ERROR(caller.Wait().status());
  SyscallInjector client(caller);
  IBEMU_RETURN_IF_ERROR(client.Prepare());

  int error = 0;  // of its write()
  absl::Status given = [&]() -> absl::Status {
    IBEMU_RETURN_IF_ERROR(client.Borrow());
    // This path works whatever the client's root directory is, and whatever has
    // become of the node.
    SyscallInjector::Words path{};
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
    SyscallInjector::Words argument{};
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
  if (caller.tid() == 0) return absl::NotFoundError("it died");
  client.GoOn(error);
  // NotFound means that it died between two of its stops (ESRCH).
  if (given.ok() || error != 0 || absl::IsNotFound(given)) return given;
  return absl::AbortedError(given.message());
}

#else

absl::Status InjectEventFile(StoppedCaller& /*caller*/) {
  return absl::UnimplementedError("registers of this architecture");
}

#endif

}  // namespace ibemu::cuse
