// AgentFaults: faults that delay or drop the answers of a node's agents.
#ifndef IBEMU_FABRIC_FAULTS_AGENT_FAULTS_H_
#define IBEMU_FABRIC_FAULTS_AGENT_FAULTS_H_

#include <cstddef>
#include <cstdint>
#include <memory>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/any_invocable.h"
#include "base/timers.h"
#include "fabric/faults/fault_lane.h"
#include "fabric/packet/packet.h"
#include "fabric/subnet/fabric_events.h"
#include "fabric/subnet/subnet.h"
#include "wire/types.h"

namespace ibemu::fabric {

// The key of one agent fault.
struct AgentFaultId {
  topology::NodeId node;
  uint32_t number;  // unique among these, and none of a link's or queue pair's
};

// The agent faults of all nodes.  Each acts on an answer on its way from the
// agent to the port: loss and corruption drop the answer, delay makes it late.
class AgentFaults {
 public:
  // The most answers that are delayed at a time, over all nodes.  Further ones
  // are lost.
  static constexpr size_t kMaxLate = 1 << 14;

  // `events` hears of the answers that are lost or held up.  All must outlive
  // this.
  AgentFaults(const Subnet& subnet, FabricEvents& events, Timers& timers,
              uint64_t seed);
  AgentFaults(const AgentFaults&) = delete;
  AgentFaults& operator=(const AgentFaults&) = delete;
  ~AgentFaults();

  AgentFaultId Add(topology::NodeId node, const LinkFaults& faults,
                   const FaultChance& chance);
  // REQUIRES: the fault was added and not removed.
  void Remove(AgentFaultId fault);
  const FaultCounts& CountsOf(AgentFaultId fault) const;

  // Returns true if the node has a fault, so that its answers go through
  // Pass().
  bool Concern(topology::NodeId node) const {
    return !lanes_.empty() && lanes_.contains(node);
  }

  // Calls `send`, which sends `answer`, now, later, or not at all.  A delayed
  // answer is lost if the link of `ingress`, where the request came in, goes
  // down in the meantime.  REQUIRES: Concern(node of `ingress`).
  void Pass(PortId ingress, const Packet& answer,
            absl::AnyInvocable<void()> send);

 private:
  const Subnet& subnet_;
  FabricEvents& events_;
  Timers& timers_;
  const uint64_t seed_;
  absl::flat_hash_map<topology::NodeId, FaultLane> lanes_;
  uint32_t last_ = 1u << 30;
  size_t late_ = 0;
  // Timer tasks may outlive this object: they hold this pointer, which the
  // destructor sets to null.
  std::shared_ptr<AgentFaults*> self_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_AGENT_FAULTS_H_
