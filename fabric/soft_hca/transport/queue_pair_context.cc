#include "fabric/soft_hca/transport/queue_pair_context.h"

#include "verbs/parts/receive_queue.h"
#include "verbs/wc_status.h"

namespace ibemu::fabric {

const verbs::Pd* QueuePairContext::receive_pd() const {
  return init.srq == nullptr
             ? init.pd
             : static_cast<const verbs::SharedReceiveQueue*>(init.srq)->pd();
}

bool QueuePairContext::FlushReceive(uint64_t id, uint32_t status) const {
  verbs::WorkCompletion completion{};
  completion.wr_id = id;
  completion.status = status;
  completion.opcode = verbs::wc_opcode::kReceive;
  completion.qp_num = number;
  return receive_cq().Push(completion, false);
}

}  // namespace ibemu::fabric
