// All queue pairs.
#ifndef IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIRS_H_
#define IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIRS_H_

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hca/model/mlx4/transport/queue_pair.h"

namespace ibemu::hca::model::mlx4 {

class QueuePairs : private QpEnvironment {
 public:
  QueuePairs(Core& core, MemoryTable& memory, CompletionQueues& completions,
             SharedReceiveQueues& shared, EventQueues& events,
             MulticastTable& multicast)
      : core_(core),
        memory_(memory),
        completions_(completions),
        shared_(shared),
        events_(events),
        multicast_(multicast) {}
  ~QueuePairs() override;
  QueuePairs(const QueuePairs&) = delete;
  QueuePairs& operator=(const QueuePairs&) = delete;

  // Before anything else is called.
  void SetPorts(Ports* ports) { ports_ = ports; }

  // CONF_SPECIAL_QP: QP0 of the ports are `base`, base + 1, QP1 those after;
  // there are none if it is 0.
  // BAD_PARAM: not a multiple of 8; RESOURCE_BUSY: some are in use.
  prm::CommandStatus ConfigureSpecial(uint32_t base);

  // All that change a queue pair.  BAD_QP_STATE: not from the state that it is
  // in; BAD_PARAM: `optional` has components that the transition has not, or
  // the context makes no sense; BAD_RESOURCE_STATE: its CQs or its SRQ are not
  // the adapter's.
  prm::CommandStatus Modify(prm::Opcode opcode, uint32_t qpn, uint32_t optional,
                            const prm::QpContext& given, bool tell_drained);
  // None: no such number.
  std::optional<prm::QpContext> Query(uint32_t qpn) const;

  // The send doorbell in UAR page `page`; one from another page than the queue
  // pair's is ignored.
  void Doorbell(uint32_t page, uint32_t qpn);

  // How many doorbells were ignored, since power-on.
  int bad_doorbells() const { return bad_doorbells_; }

  // From the wire.
  void Receive(int port, std::span<const std::byte> packet);

  // All are in the reset state.
  void Reset();

 private:
  using Pairs = std::map<uint32_t, std::unique_ptr<QueuePair>>;

  Core& core() override { return core_; }
  MemoryTable& memory() override { return memory_; }
  CompletionQueues& completions() override { return completions_; }
  EventQueues& events() override { return events_; }
  Ports& ports() override { return *ports_; }
  void Send(int port, std::vector<std::byte> packet,
            bool force_loopback) override;

  // Tables have fewer entries than there are numbers.
  uint32_t IndexOf(uint32_t qpn) const {
    return qpn & static_cast<uint32_t>(core_.qp_count() - 1);
  }
  // Which special QP of which port `qpn` is.
  struct Special {
    int qp = 0;
    int port = 0;
  };
  std::optional<Special> SpecialOf(uint32_t qpn) const;
  prm::CommandStatus CheckNew(uint32_t qpn, const prm::QpContext& context);
  void Create(uint32_t qpn, const prm::QpContext& context);
  void Destroy(Pairs::iterator pair);
  void ReceiveMulticast(int port, const Packet& packet);
  bool IsForPort(int port, wire::Lid lid) const;
  void PollReceives();

  Core& core_;
  MemoryTable& memory_;
  CompletionQueues& completions_;
  SharedReceiveQueues& shared_;
  EventQueues& events_;
  MulticastTable& multicast_;
  Ports* ports_ = nullptr;
  std::optional<uint32_t> special_base_;
  Pairs pairs_;
  TimerId poll_ = TimerId::kNone;
  int bad_doorbells_ = 0;
  // Packets to the port itself wait here; who is gone gets none.
  std::shared_ptr<QueuePairs*> alive_ = std::make_shared<QueuePairs*>(this);
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_TRANSPORT_QUEUE_PAIRS_H_
