// RefusalOf(): the refusal to a program of what the communication manager has
// refused.
#ifndef IBEMU_RDMA_CM_VALUES_REFUSAL_OF_H_
#define IBEMU_RDMA_CM_VALUES_REFUSAL_OF_H_

#include "absl/status/status.h"
#include "rdma_cm/values/refusal.h"

namespace ibemu::rdma_cm {

// Returns the refusal for a status of cm::CmId.
inline Refusal RefusalOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return Refusal::kNone;
    case absl::StatusCode::kAlreadyExists:
      return Refusal::kConnected;
    case absl::StatusCode::kNotFound:
      return Refusal::kNoSuchId;
    case absl::StatusCode::kUnavailable:
      return Refusal::kFault;
    default:
      return Refusal::kInvalid;
  }
}

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_REFUSAL_OF_H_
