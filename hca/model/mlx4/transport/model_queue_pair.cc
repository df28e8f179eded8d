#include "hca/model/mlx4/transport/model_queue_pair.h"

#include "hca/model/mlx4/transport/vendor_syndrome.h"

namespace ibemu::hca::model::mlx4 {

using prm::QpContextState;

ModelQueuePair::ModelQueuePair(QpEnvironment& environment, uint32_t qpn,
                               const prm::QpContext& context,
                               ReceiveSource* shared)
    : environment_(environment),
      context_(context),
      sends_(environment.core(), context),
      receives_(shared),
      qpn_(qpn) {
  if (shared == nullptr) {
    own_receives_ =
        std::make_unique<ModelReceiveQueue>(environment.core(), context);
    receives_ = own_receives_.get();
  }
}

bool ModelQueuePair::CanReceive() const {
  return context_.state == QpContextState::kRtr ||
         context_.state == QpContextState::kRts ||
         context_.state == QpContextState::kSqDrained ||
         context_.state == QpContextState::kSqError;
}

bool ModelQueuePair::CanSend() const {
  return context_.state == QpContextState::kRts;
}

void ModelQueuePair::Change(const prm::QpContext& context) {
  const QpContextState before = context_.state;
  context_ = context;
  if (context_.state != QpContextState::kSqDrained) tell_drained_ = false;
  if (context_.state == QpContextState::kError &&
      before != QpContextState::kError) {
    context_.state = before;
    EnterError();
    return;
  }
  OnState(before);
  if (CanSend()) Work();
}

prm::QpContext ModelQueuePair::context() const {
  prm::QpContext context = context_;
  context.local_qpn = qpn_;
  if (context.state == QpContextState::kSqDrained && !IsDrained()) {
    context.state = QpContextState::kSqDraining;
  }
  context.sq_wqe_counter = sends_.counter();
  if (own_receives_) context.rq_wqe_counter = own_receives_->counter();
  return context;
}

void ModelQueuePair::TellWhenDrained() {
  tell_drained_ = true;
  LookWhetherDrained();
}

void ModelQueuePair::LookWhetherDrained() {
  if (!tell_drained_ || context_.state != QpContextState::kSqDrained ||
      !IsDrained()) {
    return;
  }
  tell_drained_ = false;
  environment_.events().Report(prm::EqeType::kSendQueueDrained, 0,
                               prm::QueueEvent{.number = qpn_});
}

void ModelQueuePair::Doorbell() {
  if (CanSend()) {
    Work();
  } else if (context_.state == QpContextState::kError ||
             context_.state == QpContextState::kSqError) {
    FlushSends();
  }
}

void ModelQueuePair::EnterSendError() {
  context_.state = QpContextState::kSqError;
  FlushSends();
}

void ModelQueuePair::EnterError() {
  if (context_.state == QpContextState::kError) return;
  context_.state = QpContextState::kError;
  OnError();
  FlushSends();
  if (own_receives_) {
    FlushReceives();
  } else {
    environment_.events().Report(prm::EqeType::kSrqLastWqe, 0,
                                 prm::QueueEvent{.number = qpn_});
  }
}

void ModelQueuePair::EnterError(prm::EqeType why) {
  EnterError();
  environment_.events().Report(why, 0, prm::QueueEvent{.number = qpn_});
}

void ModelQueuePair::FlushSends() {
  SendWqe wqe;
  for (;;) {
    const ModelSendQueue::Fetched fetched = sends_.Fetch(wqe);
    if (fetched == ModelSendQueue::Fetched::kNone ||
        fetched == ModelSendQueue::Fetched::kFault) {
      return;
    }
    FailSend(wqe, prm::CqeSyndrome::kFlushed);
  }
}

void ModelQueuePair::FlushReceives() {
  if (context_.state != QpContextState::kError || !own_receives_) return;
  ReceiveWqe wqe;
  while (own_receives_->Fetch(wqe) == ReceiveSource::Fetched::kWqe) {
    FailReceive(wqe.counter, prm::CqeSyndrome::kFlushed);
  }
}

void ModelQueuePair::CompleteSend(const SendWqe& wqe, uint32_t byte_count) {
  if (!wqe.signaled()) return;
  const bool posted = environment_.completions().Post(
      context_.cqn_send,
      prm::Cqe{.qpn = qpn_,
               .byte_count = byte_count,
               .wqe_counter = wqe.counter,
               .is_send = true,
               .opcode = static_cast<uint8_t>(wqe.control.opcode)},
      false);
  if (!posted) EnterError(prm::EqeType::kWqCatastrophicError);
}

void ModelQueuePair::FailSend(const SendWqe& wqe, prm::CqeSyndrome syndrome) {
  environment_.completions().Post(
      context_.cqn_send,
      prm::ErrorCqe{.qpn = qpn_,
                    .wqe_counter = wqe.counter,
                    .vendor_syndrome = VendorSyndromeOf(syndrome),
                    .syndrome = syndrome,
                    .is_send = true});
}

void ModelQueuePair::CompleteReceive(prm::Cqe entry, bool solicited) {
  entry.qpn = qpn_;
  if (!environment_.completions().Post(context_.cqn_receive, entry,
                                       solicited)) {
    EnterError(prm::EqeType::kWqCatastrophicError);
  }
}

void ModelQueuePair::FailReceive(uint16_t counter, prm::CqeSyndrome syndrome) {
  environment_.completions().Post(
      context_.cqn_receive,
      prm::ErrorCqe{.qpn = qpn_,
                    .wqe_counter = counter,
                    .vendor_syndrome = VendorSyndromeOf(syndrome),
                    .syndrome = syndrome});
}

bool ModelQueuePair::PKeyMatches(uint16_t peer) {
  const Cable& cable = environment_.ports().cable(port());
  return wire::MayTalk(cable.PKeyAt(context_.primary.pkey_index), peer);
}

void ModelQueuePair::ReportBadKey(const ParsedPacket& packet,
                                  mad::TrapNumber trap, uint32_t key,
                                  uint32_t source_qpn) {
  mad::BadKey bad{.trap = trap,
                  .details = {.lid1 = packet.lrh.slid,
                              .lid2 = packet.lrh.dlid,
                              .key = key,
                              .sl = packet.lrh.sl,
                              .qp1 = source_qpn,
                              .qp2 = packet.bth.destination_qpn}};
  if (packet.grh) {
    bad.details.gid1 = packet.grh->sgid;
    bad.details.gid2 = packet.grh->dgid;
  }
  environment_.ports().cable(port()).OnBadKey(bad);
}

wire::LocalRouteHeader RouteTo(Cable& cable, uint16_t dlid, uint8_t path_bits,
                               uint8_t sl) {
  const mad::PortInfo info = cable.Info();
  const auto mask = static_cast<uint16_t>((1u << info.lmc) - 1);
  const auto slid = static_cast<uint16_t>(static_cast<uint16_t>(info.lid) |
                                          (path_bits & mask));
  return {.sl = sl, .dlid = wire::Lid{dlid}, .slid = wire::Lid{slid}};
}

wire::GlobalRouteHeader GlobalRouteTo(Cable& cable,
                                      std::span<const uint8_t, 16> gid,
                                      int gid_index, uint8_t hop_limit,
                                      uint8_t traffic_class,
                                      uint32_t flow_label) {
  return {.traffic_class = traffic_class,
          .flow_label = flow_label,
          .hop_limit = hop_limit,
          .sgid = cable.GidAt(gid_index),
          .dgid = wire::Decode<wire::Gid>(std::as_bytes(gid))};
}

}  // namespace ibemu::hca::model::mlx4
