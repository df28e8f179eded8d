// Ports: the adapter's ports.
#ifndef IBEMU_HCA_MODEL_MLX4_QUEUES_PORTS_H_
#define IBEMU_HCA_MODEL_MLX4_QUEUES_PORTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "hca/model/cable.h"
#include "hca/model/mlx4/queues/event_queues.h"
#include "hca/prm/mlx4_query.h"

namespace ibemu::hca::model::mlx4 {

// All ports, numbered from 1.
class Ports {
 public:
  using Receive =
      absl::AnyInvocable<void(int port, std::span<const std::byte> packet)>;

  // REQUIRES: `cables` outlive this object.  The first one is port 1's.
  Ports(const std::vector<Cable*>& cables, EventQueues& events,
        Receive receive);
  ~Ports();
  Ports(const Ports&) = delete;
  Ports& operator=(const Ports&) = delete;

  int count() const { return static_cast<int>(ports_.size()); }
  bool Has(uint32_t port) const { return port >= 1 && port <= ports_.size(); }
  Cable& cable(int port) { return *At(port).cable; }

  // Commands.  REQUIRES: Has(port).
  prm::QueryPort Query(int port) const;
  void SetType(int port, prm::PortType type) { At(port).type = type; }
  // INIT_PORT.  Returns BAD_RES_STATE if the port is already enabled.
  prm::CommandStatus Initialise(int port);
  // CLOSE_PORT.  Has no effect on a closed port, as Linux closes ports more
  // often than it opens them.
  void Close(int port);
  // SET_PORT.  Returns BAD_PARAM or EXCEED_LIM if the port's MTU or number of
  // VLs is exceeded.
  prm::CommandStatus Set(int port, const prm::SetPort& wanted);

  // True between INIT_PORT and CLOSE_PORT.
  bool enabled(int port) const { return At(port).enabled; }

  // Compares the port's attributes with those last reported to software, and
  // reports the differences as events.  `reregister`: the subnet manager asks
  // for client reregistration.
  void TellChanges(int port, bool reregister);

  // Restores the state after CLOSE_HCA: all ports are disabled, and IsSM is
  // clear.
  void Reset();

 private:
  class Listener;
  // The attributes last reported to software.
  struct Told {
    mad::PortInfo info;
    std::vector<wire::Gid> gids;
    std::vector<uint16_t> p_keys;
  };
  struct Port {
    Cable* cable = nullptr;
    std::unique_ptr<Listener> listener;
    bool enabled = false;
    prm::PortType type = prm::PortType::kInfiniBand;
    Told told;
  };

  Port& At(int port) { return ports_[static_cast<size_t>(port - 1)]; }
  const Port& At(int port) const {
    return ports_[static_cast<size_t>(port - 1)];
  }
  static Told Look(const Cable& cable);

  EventQueues& events_;
  Receive receive_;
  std::vector<Port> ports_;
};

}  // namespace ibemu::hca::model::mlx4

#endif  // IBEMU_HCA_MODEL_MLX4_QUEUES_PORTS_H_
