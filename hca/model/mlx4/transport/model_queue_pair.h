// ModelQueuePair: the common part of queue pairs of all services.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_MODEL_QUEUE_PAIR_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_MODEL_QUEUE_PAIR_H_

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "hca/model/mlx4/core/memory_table.h"
#include "hca/model/mlx4/core/model_mcg_table.h"
#include "hca/model/mlx4/core/parsed_packet.h"
#include "hca/model/mlx4/queues/completion_queues.h"
#include "hca/model/mlx4/queues/model_receive_queue.h"
#include "hca/model/mlx4/queues/model_send_queue.h"
#include "hca/model/mlx4/queues/ports.h"
#include "hca/model/mlx4/queues/shared_receive_queues.h"
#include "mad/port.h"

namespace ibemu::hca::model::mlx4 {

// The parts of the adapter that a queue pair uses.
class QpEnvironment {
 public:
  virtual ~QpEnvironment() = default;

  virtual Core& core() = 0;
  virtual MemoryTable& memory() = 0;
  virtual CompletionQueues& completions() = 0;
  virtual EventQueues& events() = 0;
  virtual Ports& ports() = 0;

  // Sends a packet (LRH to ICRC) on the wire of `port`.  If it is for the port
  // itself, or with `force_loopback`, it is looped back instead; a multicast
  // packet takes both ways.  Never calls back before it returns.
  virtual void Send(int port, std::vector<std::byte> packet,
                    bool force_loopback) = 0;
};

// A queue pair, from RST2INIT until its reset.
class ModelQueuePair {
 public:
  // Creates the queue pair in RST2INIT.  `shared` is the source of its receive
  // WQEs if that is shared, else null.
  ModelQueuePair(QpEnvironment& environment, uint32_t qpn,
                 const prm::QpContext& context, ReceiveSource* shared);
  virtual ~ModelQueuePair() = default;
  ModelQueuePair(const ModelQueuePair&) = delete;
  ModelQueuePair& operator=(const ModelQueuePair&) = delete;

  uint32_t qpn() const { return qpn_; }
  prm::QpContextState state() const { return context_.state; }
  int port() const {
    return prm::PortOfSchedQueue(context_.primary.sched_queue);
  }

  // Applies a context that a command has changed, its state included.
  void Change(const prm::QpContext& context);
  // The context as QUERY_QP returns it.
  virtual prm::QpContext context() const;

  // Reports to software, now or later, that all sends in progress have ended.
  // Used for a queue pair whose send queue is drained.
  void TellWhenDrained();

  // Called when software has posted send WQEs.
  void Doorbell();

  // Receives a packet for this queue pair, or for a multicast group that it is
  // a member of.
  virtual void Receive(const ParsedPacket& packet) = 0;

  // In the error state, flushes all posted receive WQEs.  It is called again
  // and again, because no doorbell announces those that software posts later.
  void FlushReceives();

 protected:
  // Processes the posted send WQEs.  Called when the state allows that.
  virtual void Work() = 0;
  // Called when a command has changed the state from `before`.  Work() follows
  // if the new state allows it.
  virtual void OnState(prm::QpContextState before) {
    static_cast<void>(before);
  }
  // Called when the state has become kError: requests in progress end with
  // kFlushed.
  virtual void OnError() {}
  // Returns true if no send is in progress.
  virtual bool IsDrained() const { return true; }
  // Reports that the send queue is drained, if it is and software waits for it.
  // Called when a send has ended.
  void LookWhetherDrained();
  // True if the state allows the queue pair to receive, or to send.
  bool CanReceive() const;
  bool CanSend() const;

  // Ends all sends, later ones included.  The queue pair still receives (IBA
  // vol 1 §10.3.1.6).
  void EnterSendError();
  void EnterError();
  // Also reports the event `why` to software.
  void EnterError(prm::EqeType why);

  void CompleteSend(const SendWqe& wqe, uint32_t byte_count = 0);
  // Posts a CQE even if the WQE is not signaled.
  void FailSend(const SendWqe& wqe, prm::CqeSyndrome syndrome);
  void CompleteReceive(prm::Cqe entry, bool solicited);
  void FailReceive(uint16_t counter, prm::CqeSyndrome syndrome);
  void FlushSends();

  // Returns true if a peer's P_Key matches that of this queue pair.
  bool PKeyMatches(uint16_t peer);
  // The port counts a packet whose `key`, a P_Key or a Q_Key, is wrong.
  // `source_qpn`: 0 if the packet does not say.
  void ReportBadKey(const ParsedPacket& packet, mad::TrapNumber trap,
                    uint32_t key, uint32_t source_qpn = 0);

  QpEnvironment& environment_;
  prm::QpContext context_;
  ModelSendQueue sends_;
  ReceiveSource* receives_;  // its own, or a shared one

 private:
  const uint32_t qpn_;
  std::unique_ptr<ModelReceiveQueue> own_receives_;
  bool tell_drained_ = false;
};

// Build the headers of a packet along an address path.  SLID and SGID are the
// port's.
wire::LocalRouteHeader RouteTo(Cable& cable, uint16_t dlid, uint8_t path_bits,
                               uint8_t sl);
wire::GlobalRouteHeader GlobalRouteTo(Cable& cable,
                                      std::span<const uint8_t, 16> gid,
                                      int gid_index, uint8_t hop_limit,
                                      uint8_t traffic_class,
                                      uint32_t flow_label);

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_MODEL_QUEUE_PAIR_H_
