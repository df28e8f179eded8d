// The state transitions of queue pairs, and the attributes that each requires.
#ifndef IBEMU_VERBS_PARTS_QP_TRANSITIONS_H_
#define IBEMU_VERBS_PARTS_QP_TRANSITIONS_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "verbs/qp_attributes.h"

namespace ibemu::verbs {

// Checks that a queue pair of `type` may be modified from `from` to `to` with
// the attributes in `mask` (bits: qp_attribute): those that the transition
// requires must be there, and no others than it allows.  IBA vol 1 §11.2.5.2,
// table 91.
//
// Errors: InvalidArgument.
absl::Status CheckTransition(QpType type, QpState from, QpState to,
                             uint32_t mask);

// Returns the state that a queue pair of `type` in `state` gets when it is
// modified to `attributes`.
//
// Errors: InvalidArgument, they name another current state; those of
// CheckTransition().
absl::StatusOr<QpState> NextState(QpType type, QpState state,
                                  const QpAttributes& attributes);

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_PARTS_QP_TRANSITIONS_H_
