// One queue pair: what all services have in common.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/memory_table.h"
#include "hca/model/mlx4/core/multicast_table.h"
#include "hca/model/mlx4/core/packet.h"
#include "hca/model/mlx4/queues/completion_queues.h"
#include "hca/model/mlx4/queues/ports.h"
#include "hca/model/mlx4/queues/receive_queue.h"
#include "hca/model/mlx4/queues/send_queue.h"
#include "hca/model/mlx4/queues/shared_receive_queues.h"

namespace ibemu::hca::model::mlx4 {

// What a queue pair needs of the adapter.
class QpEnvironment {
 public:
  virtual ~QpEnvironment() = default;

  virtual Core& core() = 0;
  virtual MemoryTable& memory() = 0;
  virtual CompletionQueues& completions() = 0;
  virtual EventQueues& events() = 0;
  virtual Ports& ports() = 0;

  // Puts a packet (LRH to ICRC) on the wire of `port`, or back into it when it
  // is for the port itself; never calls back before it returns.
  virtual void Send(int port, std::vector<std::byte> packet,
                    bool force_loopback) = 0;
};

class QueuePair {
 public:
  // From RST2INIT on.  `source` of receive WQEs when it is shared, else null.
  QueuePair(QpEnvironment& environment, uint32_t qpn,
            const prm::QpContext& context, ReceiveSource* shared);
  virtual ~QueuePair() = default;
  QueuePair(const QueuePair&) = delete;
  QueuePair& operator=(const QueuePair&) = delete;

  uint32_t qpn() const { return qpn_; }
  prm::QpState state() const { return context_.state; }
  int port() const {
    return prm::PortOfSchedQueue(context_.primary.sched_queue);
  }

  // A command has changed it, its state included.
  void Change(const prm::QpContext& context);
  // As QUERY_QP shows it.
  virtual prm::QpContext context() const;

  // Tells software, now or later, that all sends which began have ended: of a
  // queue pair whose sends are to be drained.
  void TellWhenDrained();

  // Software has posted send WQEs.
  void Doorbell();

  // A packet for it, or for a multicast group that it is a member of.
  virtual void Receive(const Packet& packet) = 0;

  // In the error state receive WQEs that software posts later are flushed, too,
  // and no doorbell tells of them.
  void FlushReceives();

 protected:
  // There may be send WQEs, and the state allows it.
  virtual void Work() = 0;
  // A command has changed the state from `before`; work comes after.
  virtual void OnState(prm::QpState before) { static_cast<void>(before); }
  // The state has become `kError`: requests on their way end with kFlushed.
  virtual void OnError() {}
  // Whether no send that began is still open.
  virtual bool IsDrained() const { return true; }
  // One has ended.
  void LookWhetherDrained();
  // Enough to receive, enough to send.
  bool CanReceive() const;
  bool CanSend() const;

  // Sends end, those to come too; it goes on to receive (IBA vol 1
  // §10.3.1.6).
  void EnterSendError();
  void EnterError();
  // Told to software, besides.
  void EnterError(prm::EventType why);

  void CompleteSend(const SendWqe& wqe, uint32_t byte_count = 0);
  // Always makes a CQE.
  void FailSend(const SendWqe& wqe, prm::CqeSyndrome syndrome);
  void CompleteReceive(prm::Cqe entry, bool solicited);
  void FailReceive(uint16_t counter, prm::CqeSyndrome syndrome);
  void FlushSends();

  // Whether a peer's P_Key may talk to this one's.
  bool PKeyMatches(uint16_t peer);

  QpEnvironment& environment_;
  prm::QpContext context_;
  SendQueue sends_;
  ReceiveSource* receives_;  // its own, or a shared one

 private:
  const uint32_t qpn_;
  std::unique_ptr<ReceiveQueue> own_receives_;
  bool tell_drained_ = false;
};

// The headers of a packet along an address path; slid and P_Key are the port's.
wire::LocalRouteHeader RouteTo(Wire& wire, uint16_t dlid, uint8_t path_bits,
                               uint8_t sl);
wire::GlobalRouteHeader GlobalRouteTo(Wire& wire,
                                      std::span<const uint8_t, 16> gid,
                                      int gid_index, uint8_t hop_limit,
                                      uint8_t traffic_class,
                                      uint32_t flow_label);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIR_H_
