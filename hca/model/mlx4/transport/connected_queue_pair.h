// ConnectedQueuePair: the common part of queue pairs of the services RC and UC.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_CONNECTED_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_CONNECTED_QUEUE_PAIR_H_

#include "hca/model/mlx4/transport/connection_link.h"
#include "hca/model/mlx4/transport/model_queue_pair.h"

namespace ibemu::hca::model::mlx4 {

// A queue pair of the service RC or UC, which is also the ConnectionLink of its
// two halves.
class ConnectedQueuePair : public ModelQueuePair, protected ConnectionLink {
 public:
  using ModelQueuePair::ModelQueuePair;

  void Receive(const ParsedPacket& packet) final;

 protected:
  // Called for each packet of the connection.
  virtual void OnPacket(const ParsedPacket& packet) = 0;

 private:
  const prm::QpContext& qp() const override { return context_; }
  MemoryTable& memory() override { return environment_.memory(); }
  void Send(const Outgoing& packet, std::span<const std::byte> headers,
            std::span<const std::byte> payload) override;
  // While the send queue is drained no new work request begins, although those
  // that have begun continue.
  ModelSendQueue::Fetched FetchSend(SendWqe& wqe) override {
    return CanSend() ? sends_.Fetch(wqe) : ModelSendQueue::Fetched::kNone;
  }
  void EndSend(const SendWqe& wqe, uint32_t byte_count) override {
    CompleteSend(wqe, byte_count);
  }
  void AbortSend(const SendWqe& wqe, prm::CqeSyndrome syndrome) override {
    FailSend(wqe, syndrome);
  }
  ReceiveSource::Fetched FetchReceive(ReceiveWqe& wqe) override {
    return receives_->Fetch(wqe);
  }
  void EndReceive(const prm::Cqe& entry, bool solicited) override {
    CompleteReceive(entry, solicited);
  }
  void AbortReceive(uint16_t counter, prm::CqeSyndrome syndrome) override {
    FailReceive(counter, syndrome);
  }
  void StopSends() override { EnterSendError(); }
  void Break() override { EnterError(); }
  void Break(prm::EqeType event) override { EnterError(event); }

  bool established_ = false;  // a packet has arrived
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_CONNECTED_QUEUE_PAIR_H_
