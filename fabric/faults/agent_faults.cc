#include "fabric/faults/agent_faults.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::fabric {

AgentFaults::AgentFaults(const Subnet& subnet, Timers& timers, uint64_t seed)
    : subnet_(subnet),
      timers_(timers),
      seed_(seed),
      self_(std::make_shared<AgentFaults*>(this)) {}

AgentFaults::~AgentFaults() { *self_ = nullptr; }

AgentFaultId AgentFaults::Add(topology::NodeId node, const LinkFaults& faults,
                              const FaultChance& chance) {
  const Random random = Random::ForStream(
      chance.seed.value_or(seed_),
      absl::StrCat(subnet_.node(node).description, Absl(chance.stream)));
  const AgentFaultId fault{.node = node, .number = ++last_};
  lanes_[node].Add(fault.number, FaultStage(faults, random));
  return fault;
}

void AgentFaults::Remove(AgentFaultId fault) {
  const auto lane = lanes_.find(fault.node);
  lane->second.Remove(fault.number);
  if (lane->second.empty()) lanes_.erase(lane);
}

const FaultCounts& AgentFaults::CountsOf(AgentFaultId fault) const {
  return lanes_.find(fault.node)->second.CountsOf(fault.number);
}

void AgentFaults::Pass(PortId ingress, const mad::MadBytes& answer,
                       absl::AnyInvocable<void()> send) {
  Packet packet;
  packet.mad = answer;
  const absl::Time now = timers_.Now();
  const NodePort& port = subnet_.port(ingress);
  const FaultLane::Fate fate =
      lanes_.find(port.node)->second.Decide(packet, now);
  if (fate.lost || fate.corrupted) return;
  if (fate.arrival == now) return send();
  if (late_ == kMaxLate) return;
  ++late_;
  timers_.RunAt(fate.arrival, [self = self_, ingress, epoch = port.link_epoch,
                               send = std::move(send)]() mutable {
    if (*self == nullptr) return;
    AgentFaults& faults = **self;
    --faults.late_;
    if (faults.subnet_.port(ingress).link_epoch == epoch) send();
  });
}

}  // namespace ibemu::fabric
