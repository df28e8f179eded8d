#include "hca/model/mlx4/reliable_queue_pair.h"

#include <optional>
#include <utility>

namespace ibemu::hca::model::mlx4 {

void ReliableQueuePair::OnState(prm::QpState before) {
  if (before == prm::QpState::kInit && state() == prm::QpState::kRtr) {
    responder_.Start(context_.next_receive_psn);
  }
  if (before == prm::QpState::kRtr && state() == prm::QpState::kRts) {
    requester_.Start(context_.next_send_psn);
  }
}

prm::QpContext ReliableQueuePair::context() const {
  prm::QpContext context = QueuePair::context();
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

void ReliableQueuePair::Receive(const Packet& packet) {
  if (!CanReceive() || !PKeyMatches(packet.bth.p_key) ||
      packet.lrh.slid != mad::Lid{context_.primary.rlid}) {
    return;
  }
  if (!std::exchange(established_, true) && state() == prm::QpState::kRtr) {
    environment_.events().Report(prm::EventType::kCommunicationEstablished, 0,
                                 prm::QueueEvent{.number = qpn()});
  }
  const uint8_t opcode = packet.bth.opcode;
  const bool answer =
      opcode >= rc::kReadResponseFirst && opcode <= rc::kAtomicAcknowledge;
  if (!answer) {
    responder_.Receive(packet);
  } else if (state() != prm::QpState::kRtr) {
    requester_.Receive(packet);
  }
}

void ReliableQueuePair::Send(const Outgoing& packet,
                             std::span<const std::byte> headers,
                             std::span<const std::byte> payload) {
  const prm::AddressPath& path = context_.primary;
  Wire& wire = environment_.ports().wire(port());
  std::optional<mad::GlobalRouteHeader> grh;
  if (path.grh) {
    grh = GlobalRouteTo(wire, path.rgid, path.mgid_index, path.hop_limit,
                        path.tclass, path.flow_label);
  }
  const mad::BaseTransportHeader bth{.opcode = packet.opcode,
                                     .solicited = packet.solicited,
                                     .migrated = true,
                                     .p_key = wire.PKeyAt(path.pkey_index),
                                     .destination_qpn = context_.remote_qpn,
                                     .ack_request = packet.ack_request,
                                     .psn = packet.psn};
  environment_.Send(port(),
                    BuildPacket(RouteTo(wire, path.rlid, path.my_lid_path_bits,
                                        prm::SlOfSchedQueue(path.sched_queue)),
                                grh, bth, headers, payload),
                    false);
}

}  // namespace ibemu::hca::model::mlx4
