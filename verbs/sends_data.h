// SendsData(): the operations whose work requests carry data of their own
// memory.
#ifndef IBEMU_VERBS_SENDS_DATA_H_
#define IBEMU_VERBS_SENDS_DATA_H_

#include <rdma/ib_user_verbs.h>

namespace ibemu::verbs {

// Returns true if the request sends what its SGEs name; others put there what
// they fetch, or have none.
constexpr bool SendsData(const ib_uverbs_send_wr& request) {
  switch (request.opcode) {
    case IB_UVERBS_WR_SEND:
    case IB_UVERBS_WR_SEND_WITH_IMM:
    case IB_UVERBS_WR_RDMA_WRITE:
    case IB_UVERBS_WR_RDMA_WRITE_WITH_IMM:
      return true;
    default:
      return false;
  }
}

}  // namespace ibemu::verbs

#endif  // IBEMU_VERBS_SENDS_DATA_H_
