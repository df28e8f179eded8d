// RefusalErrno(): the errno that a client of rdma_cm sees.
#ifndef IBEMU_CUSE_RDMA_CM_REFUSAL_ERRNO_H_
#define IBEMU_CUSE_RDMA_CM_REFUSAL_ERRNO_H_

#include "cuse/errno.h"
#include "rdma_cm/values/refusal.h"

namespace ibemu::cuse {

constexpr Errno RefusalErrno(rdma_cm::Refusal refusal) {
  using rdma_cm::Refusal;
  switch (refusal) {
    case Refusal::kNone:
      return Errno::kOk;
    case Refusal::kInvalid:
      return Errno::kInvalid;
    case Refusal::kNoSuchId:
      return Errno::kNoEntry;
    case Refusal::kRemoved:
      return Errno::kNoSuchAddress;
    case Refusal::kNoDevice:
      return Errno::kNoDevice;
    case Refusal::kNoSuchAddress:
      return Errno::kNoAddress;
    case Refusal::kAddressInUse:
      return Errno::kAddressInUse;
    case Refusal::kUnreachable:
      return Errno::kUnreachable;
    case Refusal::kNoSuchPortSpace:
      return Errno::kNoProtocol;
    case Refusal::kNotPermitted:
      return Errno::kAccess;
    case Refusal::kConnected:
      return Errno::kConnected;
    case Refusal::kTryAgain:
      return Errno::kTryAgain;
    case Refusal::kNoMemory:
      return Errno::kNoMemory;
    case Refusal::kFault:
      break;
  }
  return Errno::kIo;
}

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_RDMA_CM_REFUSAL_ERRNO_H_
