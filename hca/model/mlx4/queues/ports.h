// The adapter's ports.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_PORTS_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_PORTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/model/wire.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::model::mlx4 {

// Ports are numbered from 1.
class Ports {
 public:
  using Receive =
      absl::AnyInvocable<void(int port, std::span<const std::byte> packet)>;

  // `wires` must outlive it; the first is port 1's.
  Ports(const std::vector<Wire*>& wires, EventQueues& events, Receive receive);
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  int count() const { return static_cast<int>(ports_.size()); }
  bool Has(uint32_t port) const { return port >= 1 && port <= ports_.size(); }
  Wire& wire(int port) { return *At(port).wire; }

  // Commands; `port` must be one of them.
  prm::QueryPort Query(int port) const;
  void SetType(int port, prm::PortType type) { At(port).type = type; }
  // INIT_PORT.  BAD_RES_STATE: it was, already.
  prm::CommandStatus Initialise(int port);
  // CLOSE_PORT.  Linux closes a port more often than it opens it.
  void Close(int port);
  prm::CommandStatus Set(int port, const prm::SetPort& wanted);

  // Between INIT_PORT and CLOSE_PORT.
  bool enabled(int port) const { return At(port).enabled; }

  // Compares what the port is with what software was told, and tells the
  // difference.  `reregister`: the subnet manager asks for it.
  void TellChanges(int port, bool reregister);

  // As after CLOSE_HCA: nothing is enabled, and no subnet manager runs here.
  void Reset();

 private:
  class Listener;
  struct Told {
    mad::PortInfo info;
    std::vector<wire::Gid> gids;
    std::vector<uint16_t> p_keys;
  };
  struct Port {
    Wire* wire = nullptr;
    std::unique_ptr<Listener> listener;
    bool enabled = false;
    prm::PortType type = prm::PortType::kInfiniBand;
    Told told;
  };

  Port& At(int port) { return ports_[static_cast<size_t>(port - 1)]; }
  const Port& At(int port) const {
    return ports_[static_cast<size_t>(port - 1)];
  }
  static Told Look(const Wire& wire);

  EventQueues& events_;
  Receive receive_;
  std::vector<Port> ports_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_PORTS_H_
