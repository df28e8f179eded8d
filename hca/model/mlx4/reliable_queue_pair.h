// A queue pair of the service RC.
#ifndef IBEMU_HCA_MODEL_MLX4_RELIABLE_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_RELIABLE_QUEUE_PAIR_H_

#include "hca/model/mlx4/queue_pair.h"
#include "hca/model/mlx4/rc_requester.h"
#include "hca/model/mlx4/rc_responder.h"

namespace ibemu::hca::model::mlx4 {

class ReliableQueuePair : public QueuePair, private RcLink {
 public:
  ReliableQueuePair(QpEnvironment& environment, uint32_t qpn,
                    const prm::QpContext& context, ReceiveSource* shared)
      : QueuePair(environment, qpn, context, shared),
        requester_(*this),
        responder_(*this) {}

  void Receive(const Packet& packet) override;
  prm::QpContext context() const override;

 private:
  void OnState(prm::QpState before) override;
  void Work() override { requester_.Pump(); }
  void OnError() override { requester_.Flush(); }

  const prm::QpContext& qp() const override { return context_; }
  Timers& timers() override { return environment_.core().timers; }
  MemoryTable& memory() override { return environment_.memory(); }
  void Send(const Outgoing& packet, std::span<const std::byte> headers,
            std::span<const std::byte> payload) override;
  SendQueue::Fetched FetchSend(SendWqe& wqe) override {
    return sends_.Fetch(wqe);
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
  void Break() override { EnterError(); }
  void Break(prm::EventType event) override { EnterError(event); }

  RcRequester requester_;
  RcResponder responder_;
  bool established_ = false;  // a packet has come
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_RELIABLE_QUEUE_PAIR_H_
