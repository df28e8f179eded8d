// How file operations fail: the errno that a client sees.
#ifndef IBEMU_CUSE_ERRNO_H_
#define IBEMU_CUSE_ERRNO_H_

#include <cerrno>

#include "absl/status/status.h"

namespace ibemu::cuse {

// The errnos that Linux's InfiniBand devices and sysfs give, by what they say.
// File operations return these: an absl::Status can't tell EIO from EPIPE.
enum class Errno : int {
  kOk = 0,
  kNotPermitted = EPERM,
  kNoEntry = ENOENT,
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
};

// What a status of mad/ or sysfs/ is in a client's eyes, and one of verbs/: the
// two places that know.
Errno ToErrno(const absl::Status& status);
Errno VerbsErrno(const absl::Status& status);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_ERRNO_H_
