#include "cuse/errno.h"

namespace ibemu::cuse {

Errno ToErrno(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Errno::kOk;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kFailedPrecondition:
      return Errno::kInvalid;
    case absl::StatusCode::kNotFound:
      return Errno::kNoEntry;
    case absl::StatusCode::kPermissionDenied:
      return Errno::kAccess;
    case absl::StatusCode::kResourceExhausted:
      return Errno::kNoMemory;
    case absl::StatusCode::kUnimplemented:
      return Errno::kNoProtocol;
    case absl::StatusCode::kUnavailable:
      return Errno::kNoDevice;
    case absl::StatusCode::kCancelled:
    case absl::StatusCode::kAborted:
      return Errno::kInterrupted;
    default:
      return Errno::kIo;
  }
}

Errno VerbsErrno(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kFailedPrecondition:
      return Errno::kBusy;
    case absl::StatusCode::kOutOfRange:
      return Errno::kNoSpace;
    case absl::StatusCode::kDataLoss:
      return Errno::kFault;
    case absl::StatusCode::kAborted:
      return Errno::kTooManyFiles;
    case absl::StatusCode::kDeadlineExceeded:
      return Errno::kTryAgain;
    case absl::StatusCode::kUnimplemented:
      return Errno::kNotSupported;
    case absl::StatusCode::kPermissionDenied:
      return Errno::kNotPermitted;
    case absl::StatusCode::kUnavailable:
      return Errno::kIo;
    default:
      return ToErrno(status);
  }
}

}  // namespace ibemu::cuse
