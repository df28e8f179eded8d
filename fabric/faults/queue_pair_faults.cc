#include "fabric/faults/queue_pair_faults.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "fabric/packet/transport.h"

namespace ibemu::fabric {

using Direction = QueuePairDirection;

QueuePairFaults::QueuePairFaults(Subnet& subnet, FabricEvents& events,
                                 Timers& timers, uint64_t seed)
    : subnet_(subnet),
      events_(events),
      timers_(timers),
      seed_(seed),
      self_(std::make_shared<QueuePairFaults*>(this)) {}

QueuePairFaults::~QueuePairFaults() { *self_ = nullptr; }

QueuePairFaultId QueuePairFaults::Add(topology::NodeId node,
                                      Direction direction,
                                      std::optional<uint32_t> qpn,
                                      LinkFaults faults,
                                      const FaultChance& chance) {
  const bool sent = direction == Direction::kSent;
  const Random random = Random::ForStream(
      chance.seed.value_or(seed_),
      absl::StrCat("queue pairs of ", subnet_.node(node).description,
                   sent ? " sent" : " received", Absl(chance.stream)));
  faults.concerns.kind = PacketFilter::Kind::kVerbs;
  (sent ? faults.concerns.source_qpn : faults.concerns.destination_qpn) = qpn;
  const QueuePairFaultId fault{
      .node = node, .direction = direction, .number = ++last_};
  nodes_[node][direction].faults.Add(fault.number, FaultStage(faults, random));
  return fault;
}

void QueuePairFaults::Remove(QueuePairFaultId fault) {
  const auto node = nodes_.find(fault.node);
  NodeLanes& lanes = node->second;
  lanes[fault.direction].faults.Remove(fault.number);
  if (lanes.sent.faults.empty() && lanes.received.faults.empty()) {
    nodes_.erase(node);
  }
}

const FaultCounts& QueuePairFaults::CountsOf(QueuePairFaultId fault) const {
  const NodeLanes& lanes = nodes_.find(fault.node)->second;
  return (fault.direction == Direction::kSent ? lanes.sent : lanes.received)
      .faults.CountsOf(fault.number);
}

void QueuePairFaults::Pass(PortId port, Direction direction,
                           const Packet& packets, Passes passes) {
  Lane& lane = nodes_.find(subnet_.port(port).node)->second[direction];
  const absl::Time now = timers_.Now();
  const auto shared = std::make_shared<Passes>(std::move(passes));
  const std::shared_ptr<const Transport> all = packets.transport;
  // What passes now may remove the fault, so all is decided first.
  std::vector<Packet> at_once;
  for (uint32_t i = 0; i < all->packets; ++i) {
    Packet packet = packets;
    packet.transport = std::make_shared<Transport>(all->Single(i));
    const FaultLane::Fate fate =
        Decide(lane,
               direction == Direction::kSent ? packet.source_qpn
                                             : packet.destination_qpn,
               packet);
    if (fate.corrupted) CountCorrupted(port, direction, fate);
    if (fate.lost || fate.corrupted) {
      TellLost(port, packet, fate);
      continue;
    }
    const bool now_one = fate.arrival == now;
    if (now_one) at_once.push_back(packet);
    for (int copy = now_one ? 1 : 0; copy < fate.copies; ++copy) {
      PassLater(fate.arrival, packet, shared);
    }
  }
  for (const Packet& packet : at_once) (*shared)(packet);
}

FaultLane::Fate QueuePairFaults::Decide(Lane& lane, uint32_t qpn,
                                        const Packet& packet) {
  const absl::Time now = timers_.Now();
  const auto [last, added] =
      lane.last_arrivals.try_emplace(qpn, absl::InfinitePast());
  const FaultLane::Fate fate = lane.faults.Decide(packet, now, last->second);
  if (last->second <= now) lane.last_arrivals.erase(last);
  return fate;
}

void QueuePairFaults::TellLost(PortId port, const Packet& packet,
                               const FaultLane::Fate& fate) {
  events_.OnDrop(
      {.packet = packet,
       .port = port,
       .cause = fate.lost ? DropCause::kFaultLoss : DropCause::kFaultCorrupt,
       .fault = fate.culprit});
}

// A packet that leaves arrives at the other end of the cable with a bad CRC.
void QueuePairFaults::CountCorrupted(PortId port, Direction direction,
                                     const FaultLane::Fate& fate) {
  const PortId receiver =
      direction == Direction::kSent ? subnet_.port(port).peer : port;
  if (receiver == kNoPort) return;
  EventCounters& events = subnet_.port(receiver).Events();
  events.symbol_errors += fate.symbol_errors;
  ++events.rcv_local_physical_errors;
}

void QueuePairFaults::PassLater(absl::Time arrival, const Packet& packet,
                                std::shared_ptr<Passes> passes) {
  if (late_ == kMaxLate) return;
  ++late_;
  timers_.RunAt(arrival, [self = self_, packet, passes = std::move(passes)] {
    if (*self == nullptr) return;
    --(*self)->late_;
    (*passes)(packet);
  });
}

}  // namespace ibemu::fabric
