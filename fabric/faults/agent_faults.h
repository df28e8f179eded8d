// Nodes whose agents answer late, or not always.
#ifndef IBEMU_FABRIC_FAULTS_AGENT_FAULTS_H_
#define IBEMU_FABRIC_FAULTS_AGENT_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/timers.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// One fault of what a node's agents answer.
struct AgentFaultId {
  topology::NodeId node;
  uint32_t number;  // no other fault of agents has it
};

// What goes wrong with answers on their way from an agent to the port.
class AgentFaults {
 public:
  // Answers that wait at most, all together; others are lost.
  static constexpr size_t kMaxLate = 1 << 14;

  AgentFaults(const Subnet& subnet, Timers& timers, uint64_t seed);
  AgentFaults(const AgentFaults&) = delete;
  AgentFaults& operator=(const AgentFaults&) = delete;
  ~AgentFaults();

  AgentFaultId Add(topology::NodeId node, const LinkFaults& faults,
                   const FaultChance& chance);
  // Both require that the fault is there.
  void Remove(AgentFaultId fault);
  const FaultCounts& CountsOf(AgentFaultId fault) const;

  // Whether answers of this node have to pass.
  bool Concern(topology::NodeId node) const {
    return !lanes_.empty() && lanes_.contains(node);
  }

  // Calls `send` now, later, or not at all.  Later: not if the link of
  // `ingress`, where the request came in, has been down meanwhile.  Requires
  // Concern().
  void Pass(PortId ingress, const mad::MadBytes& answer,
            absl::AnyInvocable<void()> send);

 private:
  const Subnet& subnet_;
  Timers& timers_;
  const uint64_t seed_;
  absl::flat_hash_map<topology::NodeId, FaultLane> lanes_;
  uint32_t last_ = 0;
  size_t late_ = 0;
  // Tasks that outlive this object look here first.
  std::shared_ptr<AgentFaults*> self_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_AGENT_FAULTS_H_
