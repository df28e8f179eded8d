#include "fabric/faults/agent_faults.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"

namespace ibemu::fabric {

AgentFaults::AgentFaults(const Subnet& subnet, FabricEvents& events,
                         Timers& timers, uint64_t seed)
    : subnet_(subnet),
      events_(events),
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

void AgentFaults::Pass(PortId ingress, const Packet& answer,
                       absl::AnyInvocable<void()> send) {
  const absl::Time now = timers_.Now();
  const NodePort& port = subnet_.port(ingress);
  const FaultLane::Fate fate =
      lanes_.find(port.node)->second.Decide(answer, now);
  const auto drop = [&](DropCause cause, uint32_t fault) {
    events_.OnDrop(
        {.packet = answer, .port = ingress, .cause = cause, .fault = fault});
  };
  if (fate.lost) return drop(DropCause::kFaultLoss, fate.culprit);
  if (fate.corrupted) return drop(DropCause::kFaultCorrupt, fate.culprit);
  if (fate.arrival == now) return send();
  if (late_ == kMaxLate) return drop(DropCause::kDelayFull, 0);
  if (fate.delayer != 0) events_.OnDelay(answer, ingress, fate.delayer);
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
