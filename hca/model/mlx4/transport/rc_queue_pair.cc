#include "hca/model/mlx4/transport/rc_queue_pair.h"

#include "wire/opcode.h"

namespace ibemu::hca::model::mlx4 {

void RcQueuePair::OnState(prm::QpContextState before) {
  if (before == prm::QpContextState::kInit &&
      state() == prm::QpContextState::kRtr) {
    responder_.Start(context_.next_receive_psn);
  }
  if (before == prm::QpContextState::kRtr &&
      state() == prm::QpContextState::kRts) {
    requester_.Start(context_.next_send_psn);
  }
}

void RcQueuePair::OnError() {
  requester_.Flush();
  responder_.Flush();
}

prm::QpContext RcQueuePair::context() const {
  prm::QpContext context = ModelQueuePair::context();
  if (CanReceive()) {
    context.next_receive_psn = responder_.expected_psn();
    context.msn = responder_.message_number();
  }
  if (CanSend()) {
    context.next_send_psn = requester_.next_psn();
    context.last_acked_psn = requester_.oldest_psn();
  }
  return context;
}

void RcQueuePair::OnPacket(const ParsedPacket& packet) {
  const uint8_t opcode = packet.bth.opcode;
  const bool answer = opcode >= wire::opcode::kReadResponseFirst &&
                      opcode <= wire::opcode::kAtomicAcknowledge;
  if (!answer) {
    responder_.Receive(packet);
  } else if (state() != prm::QpContextState::kRtr) {
    requester_.Receive(packet);
    LookWhetherDrained();
  }
}

}  // namespace ibemu::hca::model::mlx4
