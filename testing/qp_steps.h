// The attributes that take a queue pair from RESET to RTS.
#ifndef IBEMU_TESTING_QP_STEPS_H_
#define IBEMU_TESTING_QP_STEPS_H_

#include <cstdint>

#include "verbs/qp_attributes.h"

namespace ibemu::testing {

// Returns the attributes (bits: verbs::qp_attribute) that the transition to
// `state` (INIT, RTR or RTS) requires, without the state itself.  They are
// written here a second time, beside verbs::CheckTransition(), so that tests
// can judge that function by them.
inline uint32_t StepTo(verbs::QpState state, verbs::QpType type) {
  namespace attribute = verbs::qp_attribute;
  const bool datagram = type == verbs::QpType::kUd;
  const bool reliable = type == verbs::QpType::kRc;
  if (state == verbs::QpState::kInit) {
    return attribute::kPKeyIndex | attribute::kPort |
           (datagram ? attribute::kQKey : attribute::kAccessFlags);
  }
  if (state == verbs::QpState::kReadyToSend) {
    return attribute::kSendPsn |
           (reliable ? attribute::kTimeout | attribute::kRetryCount |
                           attribute::kRnrRetry | attribute::kMaxReads
                     : 0);
  }
  if (datagram) return 0;
  return attribute::kAddress | attribute::kPathMtu | attribute::kDestinationQp |
         attribute::kReceivePsn |
         (reliable ? attribute::kMaxReadsHere | attribute::kMinRnrTimer : 0);
}

}  // namespace ibemu::testing

#endif  // IBEMU_TESTING_QP_STEPS_H_
