// Which states of a queue pair follow which, and what that takes.
#ifndef IBEMU_VERBS_QP_TRANSITIONS_H_
#define IBEMU_VERBS_QP_TRANSITIONS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/qp_attributes.h"

namespace ibemu::verbs {

// Whether a queue pair of `type` in `from` may be modified to `to` with the
// attributes in `mask` (bits: qp_attribute): those that the transition requires
// must be there, and no others than it allows.  IBA vol 1 §11.2.5.2, table 91.
//
// Errors: InvalidArgument.
absl::Status CheckTransition(QpType type, QpState from, QpState to,
                             uint32_t mask);

// Which state a queue pair of `type` that is in `state` has when it was
// modified as `attributes` says.
//
// Errors: InvalidArgument, they name another current state;
// CheckTransition()'s.
absl::StatusOr<QpState> NextState(QpType type, QpState state,
                                  const QpAttributes& attributes);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_QP_TRANSITIONS_H_
