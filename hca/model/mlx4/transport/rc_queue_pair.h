// RcQueuePair: a queue pair of the service RC.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_QUEUE_PAIR_H_

#include "hca/model/mlx4/transport/connected_queue_pair.h"
#include "hca/model/mlx4/transport/rc_requester.h"
#include "hca/model/mlx4/transport/rc_responder.h"

namespace ibemu::hca::model::mlx4 {

// An RcQueuePair sends by an RcRequester and receives by an RcResponder, whose
// PSNs its context() has.
class RcQueuePair : public ConnectedQueuePair {
 public:
  RcQueuePair(QpEnvironment& environment, uint32_t qpn,
              const prm::QpContext& context, ReceiveSource* shared)
      : ConnectedQueuePair(environment, qpn, context, shared),
        requester_(*this, environment.core().timers),
        responder_(*this) {}

  prm::QpContext context() const override;

 private:
  void OnPacket(const ParsedPacket& packet) override;
  void OnState(prm::QpContextState before) override;
  void Work() override { requester_.Pump(); }
  void OnError() override;
  bool IsDrained() const override { return requester_.idle(); }

  RcRequester requester_;
  RcResponder responder_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_RC_QUEUE_PAIR_H_
