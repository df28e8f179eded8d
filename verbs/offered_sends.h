// IsOffered(): the operations that a queue pair can be asked for.
#ifndef IBEMU_VERBS_OFFERED_SENDS_H_
#define IBEMU_VERBS_OFFERED_SENDS_H_

#include <rdma/ib_user_verbs.h>

#include "verbs/qp_attributes.h"

namespace ibemu::verbs {

// Returns true if queue pairs of `type` can do what the request asks for (IBA
// vol 1 §10.8.2).
constexpr bool IsOffered(QpType type, const ib_uverbs_send_wr& request) {
  switch (request.opcode) {
    case IB_UVERBS_WR_SEND:
    case IB_UVERBS_WR_SEND_WITH_IMM:
      return true;
    case IB_UVERBS_WR_RDMA_WRITE:
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return type == QpType::kRc || type == QpType::kUc;
    case IB_UVERBS_WR_RDMA_READ:
    case IB_UVERBS_WR_ATOMIC_CMP_AND_SWP:
    case IB_UVERBS_WR_ATOMIC_FETCH_AND_ADD:
      return type == QpType::kRc;
    default:
      return false;
  }
}

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_OFFERED_SENDS_H_
