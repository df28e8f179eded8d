#include "fabric/faults/queue_pair_faults.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "fabric/packet/single_packet.h"

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

QueuePairFaultId QueuePairFaults::Add(FaultPlace place, Direction direction,
                                      std::optional<uint32_t> qpn,
                                      LinkFaults faults,
                                      const FaultChance& chance) {
  const bool sent = direction == Direction::kSent;
  // The next run's process has another number, and the same luck.
  const std::string_view whose =
      place.is_process()
          ? "a process"
          : std::string_view(subnet_.node(place.node()).description);
  const Random random = Random::ForStream(
      chance.seed.value_or(seed_),
      absl::StrCat("queue pairs of ", Absl(whose), sent ? " sent" : " received",
                   Absl(chance.stream)));
  faults.concerns.kind = PacketFilter::Kind::kVerbs;
  (sent ? faults.concerns.source_qpn : faults.concerns.destination_qpn) = qpn;
  const QueuePairFaultId fault{
      .place = place, .direction = direction, .number = ++last_};
  places_[place][direction].faults.Add(fault.number,
                                       FaultStage(faults, random));
  return fault;
}

void QueuePairFaults::Remove(QueuePairFaultId fault) {
  const auto place = places_.find(fault.place);
  PlaceLanes& lanes = place->second;
  lanes[fault.direction].faults.Remove(fault.number);
  if (lanes.sent.faults.empty() && lanes.received.faults.empty()) {
    places_.erase(place);
  }
}

const FaultCounts& QueuePairFaults::CountsOf(QueuePairFaultId fault) const {
  const PlaceLanes& lanes = places_.find(fault.place)->second;
  return (fault.direction == Direction::kSent ? lanes.sent : lanes.received)
      .faults.CountsOf(fault.number);
}

void QueuePairFaults::Pass(PortId port, uint64_t process, Direction direction,
                           const Packet& packets, Passes passes) {
  const FaultPlace owner = FaultPlace::OfProcess(process);
  const auto shared = std::make_shared<Passes>(std::move(passes));
  const auto then = std::make_shared<Passes>(
      [this, owner, port, direction, shared](const Packet& packet) {
        PassAt(owner, port, direction, packet, shared);
      });
  PassAt(FaultPlace::OfNode(subnet_.port(port).node), port, direction, packets,
         then);
}

void QueuePairFaults::PassAt(FaultPlace place, PortId port, Direction direction,
                             const Packet& packets,
                             const std::shared_ptr<Passes>& passes) {
  const auto found = places_.find(place);
  if (found == places_.end()) return (*passes)(packets);
  Lane& lane = found->second[direction];
  const absl::Time now = timers_.Now();
  // What passes now may remove the fault, so all is decided first.
  std::vector<Packet> at_once;
  for (uint32_t i = 0; i < packets.Count(); ++i) {
    const Packet packet = SingleOf(packets, i);
    const uint32_t qpn = direction == Direction::kSent ? packet.source_qpn
                                                       : packet.destination_qpn;
    const FaultLane::Fate fate =
        Decide(lane, {subnet_.port(port).node, qpn}, packet);
    if (fate.corrupted) CountCorrupted(port, direction, fate);
    if (fate.lost || fate.corrupted) {
      TellLost(port, packet, fate);
      continue;
    }
    if (fate.delayer != 0) events_.OnDelay(packet, port, fate.delayer);
    const bool now_one = fate.arrival == now;
    if (now_one) at_once.push_back(packet);
    for (int copy = now_one ? 1 : 0; copy < fate.copies; ++copy) {
      PassLater(fate.arrival, packet, passes);
    }
  }
  for (const Packet& packet : at_once) (*passes)(packet);
}

FaultLane::Fate QueuePairFaults::Decide(Lane& lane, QueuePairKey queue_pair,
                                        const Packet& packet) {
  const absl::Time now = timers_.Now();
  const auto [last, added] =
      lane.last_arrivals.try_emplace(queue_pair, absl::InfinitePast());
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
