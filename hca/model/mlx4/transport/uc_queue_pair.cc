#include "hca/model/mlx4/transport/uc_queue_pair.h"

namespace ibemu::hca::model::mlx4 {

using prm::QpState;

void UcQueuePair::OnState(QpState before) {
  if (before == QpState::kInit && state() == QpState::kRtr) {
    responder_.Start(context_.next_receive_psn);
  }
  if (before == QpState::kRtr && state() == QpState::kRts) {
    requester_.Start(context_.next_send_psn);
  }
  if (state() == QpState::kSqDrained) requester_.Drain();
}

void UcQueuePair::OnError() {
  requester_.Flush();
  responder_.Flush();
}

prm::QpContext UcQueuePair::context() const {
  prm::QpContext context = ModelQueuePair::context();
  if (!CanReceive()) return context;
  context.next_receive_psn = responder_.expected_psn();
  if (state() != QpState::kRtr) context.next_send_psn = requester_.next_psn();
  return context;
}

}  // namespace ibemu::hca::model::mlx4
