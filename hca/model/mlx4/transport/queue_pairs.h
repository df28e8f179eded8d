// QueuePairs: all queue pairs of the adapter.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIRS_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIRS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hca/model/mlx4/transport/model_queue_pair.h"

namespace ibemu::hca::model::mlx4 {

// The queue pairs by number.  One that is in the reset state does not exist
// here.
class QueuePairs : private QpEnvironment {
 public:
  QueuePairs(Core& core, MemoryTable& memory, CompletionQueues& completions,
             SharedReceiveQueues& shared, EventQueues& events,
             ModelMcgTable& multicast)
      : core_(core),
        memory_(memory),
        completions_(completions),
        shared_(shared),
        events_(events),
        multicast_(multicast) {}
  ~QueuePairs() override;
  QueuePairs(const QueuePairs&) = delete;
  QueuePairs& operator=(const QueuePairs&) = delete;

  // REQUIRES: called before any other function.
  void SetPorts(Ports* ports) { ports_ = ports; }

  // CONF_SPECIAL_QP: makes `base` and base + 1 the QP0 of the ports, and the
  // two after them their QP1.  A `base` of 0 means that there are none.
  // Returns BAD_PARAM if it is not a multiple of 8, BAD_INDEX if it is reserved
  // or beyond the table, and RESOURCE_BUSY if some special QPs are in use.
  prm::CommandStatus ConfigureSpecial(uint32_t base);

  // All commands that change a queue pair.  Returns BAD_QP_STATE if the command
  // is not allowed in the present state; BAD_PARAM if `optional` has components
  // that the transition does not have, or if the context is invalid;
  // BAD_RES_STATE if the adapter does not own the CQs or the SRQ.
  // `tell_drained` asks for an event when the send queue is drained.
  prm::CommandStatus Modify(prm::Opcode opcode, uint32_t qpn, uint32_t optional,
                            const prm::QpContext& given, bool tell_drained);
  // Returns nothing if there is no such number.
  std::optional<prm::QpContext> Query(uint32_t qpn) const;

  // A send doorbell in UAR page `page`.  It is ignored unless this is the page
  // of the queue pair.
  void Doorbell(uint32_t page, uint32_t qpn);

  // The number of doorbells that were ignored since power-on.
  int bad_doorbells() const { return bad_doorbells_; }

  // Receives a packet from the wire.
  void Receive(int port, std::span<const std::byte> packet);

  // Puts all queue pairs into the reset state.
  void Reset();

 private:
  using Pairs = std::map<uint32_t, std::unique_ptr<ModelQueuePair>>;

  Core& core() override { return core_; }
  MemoryTable& memory() override { return memory_; }
  CompletionQueues& completions() override { return completions_; }
  EventQueues& events() override { return events_; }
  Ports& ports() override { return *ports_; }
  void Send(int port, std::vector<std::byte> packet,
            bool force_loopback) override;

  // Tables have fewer entries than there are QP numbers.
  uint32_t IndexOf(uint32_t qpn) const {
    return qpn & static_cast<uint32_t>(core_.qp_count() - 1);
  }
  // A special QP: its number, 0 or 1, and its port.
  struct Special {
    int qp = 0;
    int port = 0;
  };
  std::optional<Special> SpecialOf(uint32_t qpn) const;
  prm::CommandStatus CheckNew(uint32_t qpn, const prm::QpContext& context);
  void Create(uint32_t qpn, const prm::QpContext& context);
  void Destroy(Pairs::iterator pair);
  void ReceiveMulticast(int port, const ParsedPacket& packet);
  bool IsForPort(int port, wire::Lid lid) const;
  void PollReceives();

  Core& core_;
  MemoryTable& memory_;
  CompletionQueues& completions_;
  SharedReceiveQueues& shared_;
  EventQueues& events_;
  ModelMcgTable& multicast_;
  Ports* ports_ = nullptr;
  std::optional<uint32_t> special_base_;
  Pairs pairs_;
  TimerId poll_ = TimerId::kNone;
  int bad_doorbells_ = 0;
  // Packets to the port itself are delivered later, and hold a weak pointer to
  // this, so that none reaches a destroyed object.
  std::shared_ptr<QueuePairs*> alive_ = std::make_shared<QueuePairs*>(this);
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIRS_H_
