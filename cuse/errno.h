// Errno: the errno with which a client sees a file operation fail.
#ifndef IBEMU_CUSE_ERRNO_H_
#define IBEMU_CUSE_ERRNO_H_

#include <cerrno>

#include "absl/status/status.h"

namespace ibemu::cuse {

// The errnos that Linux's InfiniBand devices and sysfs give, named by their
// meaning.  File operations return these instead of absl::Status, which can't
// tell EIO from EPIPE.
enum class Errno : int {
  kOk = 0,
  kNotPermitted = EPERM,
  kNoEntry = ENOENT,
  kNoProcess = ESRCH,
  kInterrupted = EINTR,
  kIo = EIO,
  kNoSuchAddress = ENXIO,
  kBadFile = EBADF,
  kTryAgain = EAGAIN,
  kNoMemory = ENOMEM,
  kAccess = EACCES,
  kFault = EFAULT,
  kNoDevice = ENODEV,
  kNotDirectory = ENOTDIR,
  kIsDirectory = EISDIR,
  kInvalid = EINVAL,
  kBusy = EBUSY,
  kTooManyFiles = EMFILE,
  kNotTty = ENOTTY,
  kNoSpace = ENOSPC,
  kPipe = EPIPE,
  kNoSystemCall = ENOSYS,
  kNoProtocol = EPROTONOSUPPORT,
  kNoBuffers = ENOBUFS,
  kNotSupported = EOPNOTSUPP,
  kAddressInUse = EADDRINUSE,
  kNoAddress = EADDRNOTAVAIL,
  kUnreachable = ENETUNREACH,
  kConnected = EISCONN,
};

// Return the errno that a client sees for a status: the first for statuses of
// mad/ or sysfs/, the second for those of verbs/. No other code maps statuses
// to errnos.
Errno ToErrno(const absl::Status& status);
Errno VerbsErrno(const absl::Status& status);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_ERRNO_H_
