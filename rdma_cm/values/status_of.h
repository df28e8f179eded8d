// StatusOf(): the status in an event about a question that failed.
#ifndef IBEMU_RDMA_CM_VALUES_STATUS_OF_H_
#define IBEMU_RDMA_CM_VALUES_STATUS_OF_H_

#include "absl/status/status.h"
#include "rdma_cm/values/event.h"

namespace ibemu::rdma_cm {

// Returns the status of the event for a failure that subnet administration, a
// membership or an interface told.
inline int StatusOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return 0;
    case absl::StatusCode::kInvalidArgument:
      return event_status::kInvalid;
    case absl::StatusCode::kDeadlineExceeded:
      return event_status::kTimedOut;
    case absl::StatusCode::kFailedPrecondition:
      return event_status::kTryAgain;
    case absl::StatusCode::kAborted:
      return event_status::kNetworkReset;
    default:
      return event_status::kFault;
  }
}

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_VALUES_STATUS_OF_H_
