#include "hca/model/mlx4/transport/uc_queue_pair.h"

namespace ibemu::hca::model::mlx4 {

using prm::QpContextState;

void UcQueuePair::OnState(QpContextState before) {
  if (before == QpContextState::kInit && state() == QpContextState::kRtr) {
    responder_.Start(context_.next_receive_psn);
  }
  if (before == QpContextState::kRtr && state() == QpContextState::kRts) {
    requester_.Start(context_.next_send_psn);
  }
  if (state() == QpContextState::kSqDrained) requester_.Drain();
}

void UcQueuePair::OnError() {
  requester_.Flush();
  responder_.Flush();
}

prm::QpContext UcQueuePair::context() const {
  prm::QpContext context = ModelQueuePair::context();
  if (!CanReceive()) return context;
  context.next_receive_psn = responder_.expected_psn();
  if (state() != QpContextState::kRtr)
    context.next_send_psn = requester_.next_psn();
  return context;
}

}  // namespace ibemu::hca::model::mlx4
