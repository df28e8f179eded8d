// Queue pairs that send datagrams: UD, and the special ones (MLX).
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_DATAGRAM_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_DATAGRAM_QUEUE_PAIR_H_

#include <cstdint>
#include <optional>

#include "hca/model/mlx4/transport/queue_pair.h"

namespace ibemu::hca::model::mlx4 {

class DatagramQueuePair : public QueuePair {
 public:
  // `special`: 0 or 1, whose QP it is; else none.
  DatagramQueuePair(QpEnvironment& environment, uint32_t qpn,
                    const prm::QpContext& context, ReceiveSource* shared,
                    std::optional<int> special)
      : QueuePair(environment, qpn, context, shared), special_(special) {}

  void Receive(const Packet& packet) override;

 private:
  void Work() override;

  // Sends what `wqe` says; kNone, or why it can't.
  prm::CqeSyndrome SendUd(const SendWqe& wqe);
  prm::CqeSyndrome SendMlx(const SendWqe& wqe);

  // Q_Key and P_Key, as the kind of QP has them.  The P_Key's index, if it may
  // come in.
  std::optional<uint16_t> Admit(const Packet& packet,
                                const wire::DatagramHeader& deth);

  const std::optional<int> special_;
  uint32_t psn_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_DATAGRAM_QUEUE_PAIR_H_
