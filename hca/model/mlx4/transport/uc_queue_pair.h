// UcQueuePair: a queue pair of the service UC.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_QUEUE_PAIR_H_

#include "hca/model/mlx4/transport/connected_queue_pair.h"
#include "hca/model/mlx4/transport/uc_requester.h"
#include "hca/model/mlx4/transport/uc_responder.h"

namespace ibemu::hca::model::mlx4 {

// A UcQueuePair sends by a UcRequester and receives by a UcResponder, whose
// PSNs its context() has.
class UcQueuePair : public ConnectedQueuePair {
 public:
  UcQueuePair(QpEnvironment& environment, uint32_t qpn,
              const prm::QpContext& context, ReceiveSource* shared)
      : ConnectedQueuePair(environment, qpn, context, shared),
        requester_(*this, environment.core().timers),
        responder_(*this) {}

  prm::QpContext context() const override;

 private:
  void OnPacket(const ParsedPacket& packet) override {
    responder_.Receive(packet);
  }
  void OnState(prm::QpContextState before) override;
  void Work() override { requester_.Pump(); }
  void OnError() override;

  UcRequester requester_;
  UcResponder responder_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_UC_QUEUE_PAIR_H_
