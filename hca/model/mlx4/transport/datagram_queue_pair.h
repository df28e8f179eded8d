// DatagramQueuePair: a queue pair that sends datagrams, UD or special (MLX).
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_DATAGRAM_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_DATAGRAM_QUEUE_PAIR_H_

#include <cstdint>
#include <optional>

#include "hca/model/mlx4/transport/model_queue_pair.h"

namespace ibemu::hca::model::mlx4 {

// A UD or MLX queue pair.  A datagram is complete when it was sent.
class DatagramQueuePair : public ModelQueuePair {
 public:
  // `special` is 0 or 1 for QP0 or QP1 of a port, and empty for any other QP.
  DatagramQueuePair(QpEnvironment& environment, uint32_t qpn,
                    const prm::QpContext& context, ReceiveSource* shared,
                    std::optional<int> special)
      : ModelQueuePair(environment, qpn, context, shared), special_(special) {}

  void Receive(const ParsedPacket& packet) override;

 private:
  void Work() override;

  // Send the message of `wqe`.  They return kNone on success, and else the
  // syndrome of the error.
  prm::CqeSyndrome SendUd(const SendWqe& wqe);
  prm::CqeSyndrome SendMlx(const SendWqe& wqe);

  // Checks Q_Key and P_Key by the rules for this kind of QP.  Returns the index
  // of the P_Key if the packet is accepted.
  std::optional<uint16_t> Admit(const ParsedPacket& packet,
                                const wire::DatagramHeader& deth);

  const std::optional<int> special_;
  uint32_t psn_ = 0;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_DATAGRAM_QUEUE_PAIR_H_
