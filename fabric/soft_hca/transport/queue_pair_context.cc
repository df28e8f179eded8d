#include "fabric/soft_hca/transport/queue_pair_context.h"

#include "verbs/wc_status.h"

namespace ibemu::fabric {

void QueuePairContext::FlushReceive(uint64_t id) const {
  verbs::WorkCompletion completion{};
  completion.wr_id = id;
  completion.status = verbs::wc_status::kFlushed;
  completion.opcode = verbs::wc_opcode::kReceive;
  completion.qp_num = number;
  receive_cq().Push(completion, false);
}

}  // namespace ibemu::fabric
