#include "fabric/forwarding/forwarder.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/absl_text.h"
#include "fabric/forwarding/link_traffic.h"
#include "fabric/packet/single_packet.h"
#include "fabric/packet/transport.h"
#include "mad/smi.h"
#include "mad/wire/smp.h"

namespace ibemu::fabric {
namespace {

using wire::Lid, mad::PortState, mad::SmiStep;

// The limit that ends a routing loop.  No real subnet has paths this long.
constexpr int kMaxHops = 4096;

// The limit for multicast packets, whose loops also multiply them.
constexpr int kMaxMulticastHops = 256;

// The work of one call of Drain(), in packets and links crossed: some 50 us.  A
// long RMPP message has tens of thousands of packets, a multicast packet as
// many copies, and the event loop has other tasks.
constexpr int64_t kTurn = 512;

// The most packets that delayed links hold at a time, over the whole fabric.
constexpr size_t kMaxLate = 1 << 17;

bool IsDirectedRoute(const Packet& packet) {
  return packet.vl15 && wire::Get<&mad::Smp::mgmt_class>(packet.mad) ==
                            mad::MgmtClass::kSubnetDirectedRoute;
}

LinkTraffic TrafficOf(const Packet& packet, uint8_t vl) {
  return {.packets = packet.Count(),
          .words = packet.Words(),
          .sl = packet.sl,
          .vl = vl,
          .vl15 = packet.vl15,
          .multicast = wire::IsMulticast(packet.dlid)};
}

}  // namespace

Forwarder::Forwarder(Subnet& subnet, Links& links, FabricEvents& events,
                     Timers& timers, PacketSink& sink, uint64_t seed)
    : subnet_(subnet),
      links_(links),
      events_(events),
      timers_(timers),
      sink_(sink),
      seed_(seed),
      self_(std::make_shared<Forwarder*>(this)) {}

Forwarder::~Forwarder() { *self_ = nullptr; }

void Forwarder::Send(Flight::Step step, PortId port, const Packet& packet) {
  Flight& flight = queue_.Push();
  flight.step = step;
  flight.port = port;
  flight.vl = 0;
  flight.hops = 0;
  flight.packet = packet;
  ++totals_.sent;
  Schedule();
}

void Forwarder::SendByAddress(PortId from, const Packet& packet) {
  const NodePort& port = subnet_.port(from);
  if (port.Owns(packet.dlid)) {
    Send(Flight::Step::kLoop, from, packet);
  } else if (subnet_.node(port.node).is_switch()) {
    Send(Flight::Step::kRoute, from, packet);
  } else {
    Send(Flight::Step::kLeave, from, packet);
  }
}

void Forwarder::AfterThese(Timers::Task task) {
  after_these_.emplace_back(taken_ + queue_.size(), std::move(task));
  Schedule();
}

void Forwarder::AfterDelivery(Timers::Task task) {
  after_delivery_.push_back(std::move(task));
  Schedule();
}

FaultId Forwarder::AddFault(PortId port, const LinkFaults& faults,
                            const FaultChance& chance) {
  const Random random = Random::ForStream(
      chance.seed.value_or(seed_),
      absl::StrCat(subnet_.PortName(port), Absl(chance.stream)));
  const FaultId fault{.port = port, .number = NewFaultNumber()};
  faults_[port].Add(fault.number, FaultStage(faults, random));
  subnet_.port(port).faulty = true;
  interfered_(port);
  return fault;
}

void Forwarder::RemoveFault(FaultId fault) {
  const auto lane = faults_.find(fault.port);
  lane->second.Remove(fault.number);
  if (!lane->second.empty()) return;
  faults_.erase(lane);
  subnet_.port(fault.port).faulty = false;
}

const FaultCounts& Forwarder::CountsOf(FaultId fault) const {
  return faults_.find(fault.port)->second.CountsOf(fault.number);
}

void Forwarder::AddTap(PacketTap& tap) {
  taps_.Add(tap);
  interfered_(kNoPort);
}

std::optional<ClearPath> Forwarder::FindClear(PortId from,
                                              const PacketKind& kind) const {
  if (!taps_.empty()) return std::nullopt;
  return FindClearPath(subnet_, from, kind);
}

void Forwarder::Account(const ClearPath& path, const PacketKind& kind,
                        uint64_t packets, uint64_t words) {
  CountOn(path, kind, packets, words, subnet_);
  totals_.sent += packets;
  totals_.hops += packets * path.links.size();
  totals_.delivered += packets;
}

void Forwarder::Schedule() {
  if (scheduled_) return;
  scheduled_ = true;
  timers_.RunSoon([self = self_] {
    if (*self != nullptr) (*self)->Drain();
  });
}

void Forwarder::RunAfterThese() {
  while (!after_these_.empty() && after_these_.front().first <= taken_) {
    Timers::Task task = std::move(after_these_.front().second);
    after_these_.pop_front();
    task();
  }
}

void Forwarder::Drain() {
  RunAfterThese();
  Flight flight;  // a copy, because the queue may grow meanwhile
  int64_t left = kTurn;
  while (true) {
    while (left > 0 && !queue_.empty()) {
      const uint64_t before = totals_.hops;
      queue_.PopInto(flight);
      ++taken_;
      Walk(flight);
      RunAfterThese();
      left -= 1 + static_cast<int64_t>(totals_.hops - before);
    }
    if (after_delivery_.empty()) break;
    std::vector<Timers::Task> tasks;
    tasks.swap(after_delivery_);
    for (Timers::Task& task : tasks) task();
  }
  scheduled_ = !queue_.empty();
  if (!scheduled_) return;
  // This uses RunAt(), because the loop runs all RunSoon() tasks before
  // anything else.
  timers_.RunAt(timers_.Now(), [self = self_] {
    if (*self != nullptr) (*self)->Drain();
  });
}

void Forwarder::Walk(Flight& flight) {
  const PortId ingress = flight.port;
  PortId egress = kNoPort;
  copies_ = 0;
  const Node& start = subnet_.NodeOf(flight.port);
  if (!start.up) {
    Drop(DropCause::kNodeDown, flight.port, flight.packet);
    return;
  }
  switch (flight.step) {
    case Flight::Step::kLeave:
      egress = flight.port;
      break;
    case Flight::Step::kArrive:
      egress = Enter(flight);
      break;
    case Flight::Step::kRoute:
      egress = RouteByLid(flight.port, start, flight);
      break;
    case Flight::Step::kLoop:
      TakeAtEnd(flight.port, start, flight.packet);
      break;
  }
  Carry(flight, ingress, egress);
}

void Forwarder::Carry(Flight& flight, PortId ingress, PortId egress) {
  while (egress != kNoPort) {
    flight.port = egress;
    if (!CrossLink(flight, ingress)) return;
    ingress = flight.port;
    egress = Enter(flight);
  }
}

bool Forwarder::CrossLink(Flight& flight, PortId ingress) {
  const Packet& packet = flight.packet;
  NodePort& out = subnet_.port(flight.port);
  if (out.faulty && packet.Count() > 1) return CrossOneByOne(flight, ingress);
  // What another fabric let pass is not looked at again.
  const bool passes = packet.vl15 || subnet_.node(out.node).is_beyond
                          ? out.IsUp()
                          : out.IsActive();
  if (out.peer == kNoPort || !passes) {
    out.Events().xmit_inactive += packet.Count();
    return Drop(DropCause::kLinkDown, flight.port, packet);
  }
  if (++flight.hops > kMaxHops) {
    out.Events().xmit_lifetime += packet.Count();
    return Drop(DropCause::kHopLimit, flight.port, packet);
  }
  if (!packet.vl15) {
    NodePort& in = subnet_.port(ingress);
    const bool relayed = subnet_.node(out.node).is_switch();
    flight.vl = out.VlOf(packet.sl, relayed ? in.number : 0);
    if (flight.vl == 15) {
      (relayed ? in.Events().relay_vl_mapping : out.Events().xmit_inactive) +=
          packet.Count();
      return Drop(DropCause::kVlMapping, flight.port, packet);
    }
    if (relayed && out.info.partition_enforcement_outbound &&
        out.FindPKey(packet.p_key) < 0) {
      out.Events().xmit_constraint_errors += packet.Count();
      sink_.OnEnforcedPKey(flight.port, packet);
      return Drop(DropCause::kPKey, flight.port, packet);
    }
  }
  if (packet.transport != nullptr &&
      packet.transport->longest() > size_t{128} << out.info.neighbor_mtu) {
    out.Events().xmit_neighbor_mtu += packet.Count();
    return Drop(DropCause::kMtu, flight.port, packet);
  }
  CountXmit(out, TrafficOf(packet, flight.vl));
  if (!taps_.empty()) Show(flight, out);
  if (out.faulty && !PassFaults(flight, out)) return false;
  flight.port = out.peer;
  ++totals_.hops;
  return true;
}

// Carries each packet of a group by itself, because faults act on single
// packets.
bool Forwarder::CrossOneByOne(const Flight& train, PortId ingress) {
  for (uint32_t i = 0; i < train.packet.Count(); ++i) {
    Flight single = train;
    single.packet = SingleOf(train.packet, i);
    Carry(single, ingress, train.port);
  }
  return false;
}

void Forwarder::Show(const Flight& flight, const NodePort& out) {
  const auto show = [&](const Packet& single) {
    taps_.ForEach([&](PacketTap& tap) {
      tap.OnCrossing(flight.port, out.peer, flight.vl, single);
    });
  };
  const uint32_t count = flight.packet.Count();
  if (count == 1) return show(flight.packet);
  for (uint32_t i = 0; i < count; ++i) show(SingleOf(flight.packet, i));
}

bool Forwarder::PassFaults(const Flight& flight, const NodePort& out) {
  const absl::Time now = timers_.Now();
  const FaultLane::Fate fate =
      faults_.find(flight.port)->second.Decide(flight.packet, now);
  if (fate.lost) {
    return Drop(DropCause::kFaultLoss, flight.port, flight.packet,
                fate.culprit);
  }
  if (fate.corrupted) {
    EventCounters& events = subnet_.port(out.peer).Events();
    events.symbol_errors += fate.symbol_errors;
    ++events.rcv_local_physical_errors;
    return Drop(DropCause::kFaultCorrupt, flight.port, flight.packet,
                fate.culprit);
  }
  if (fate.delayer != 0) {
    events_.OnDelay(flight.packet, flight.port, fate.delayer);
  }
  const bool at_once = fate.arrival == now;
  for (int copy = at_once ? 1 : 0; copy < fate.copies; ++copy) {
    ArriveLater(flight, out, fate.arrival);
  }
  return at_once;
}

void Forwarder::ArriveLater(const Flight& flight, const NodePort& out,
                            absl::Time arrival) {
  if (late_ == kMaxLate) {
    ++subnet_.port(flight.port).Events().xmit_hoq_lifetime;
    Drop(DropCause::kDelayFull, flight.port, flight.packet);
    return;
  }
  ++late_;
  Flight late = flight;
  late.step = Flight::Step::kArrive;
  late.port = out.peer;
  timers_.RunAt(arrival, [self = self_, late, from = flight.port,
                          epoch = out.link_epoch] {
    if (*self == nullptr) return;
    Forwarder& forwarder = **self;
    --forwarder.late_;
    // The link went down in the meantime: packets in the cable are lost.
    if (forwarder.subnet_.port(late.port).link_epoch != epoch) {
      forwarder.Drop(DropCause::kCut, from, late.packet);
      return;
    }
    ++forwarder.totals_.hops;
    forwarder.queue_.Push(late);
    forwarder.Schedule();
  });
}

PortId Forwarder::Enter(Flight& flight) {
  const PortId id = flight.port;
  NodePort& port = subnet_.port(id);
  const Packet& packet = flight.packet;
  CountRcv(port, TrafficOf(packet, flight.vl));
  if (!packet.vl15 && !port.IsActive()) {
    if (port.info.port_state != PortState::kArmed) {
      return NoWay(DropCause::kPortInactive, id, packet);
    }
    links_.OnDataWhileArmed(id);
  }
  const Node& node = subnet_.node(port.node);
  return node.is_switch() ? EnterSwitch(id, node, flight)
                          : TakeAtEnd(id, node, flight.packet);
}

PortId Forwarder::TakeAtEnd(PortId id, const Node& node, Packet& packet) {
  NodePort& port = subnet_.port(id);
  const bool ours =
      packet.dlid == Lid::kPermissive
          ? packet.vl15
          : wire::IsMulticast(packet.dlid) || port.Owns(packet.dlid);
  if (!ours && !node.is_beyond) {
    port.Events().rcv_malformed += packet.Count();
    return NoWay(DropCause::kNotOurs, id, packet);
  }
  if (IsDirectedRoute(packet) && !node.remote) {
    const mad::SmiVerdict verdict = mad::SmiReceive(
        packet.mad, {.is_switch = false, .port_count = node.port_count},
        port.number);
    if (verdict.step != SmiStep::kDeliver) {
      return NoWay(DropCause::kDirectedRoute, id, packet);
    }
  }
  return Deliver(id, packet);
}

PortId Forwarder::EnterSwitch(PortId id, const Node& node, Flight& flight) {
  NodePort& port = subnet_.port(id);
  Packet& packet = flight.packet;
  if (packet.dlid == Lid::kPermissive) {
    if (IsDirectedRoute(packet)) return TakeDirected(id, node, flight);
    if (packet.vl15) return Deliver(id, packet);
    port.Events().rcv_malformed += packet.Count();
    return NoWay(DropCause::kNotOurs, id, packet);
  }
  if (!packet.vl15 && port.info.partition_enforcement_inbound &&
      !port.AdmitsFromPeer(packet.p_key)) {
    port.Events().rcv_constraint_errors += packet.Count();
    sink_.OnEnforcedPKey(id, packet);
    return NoWay(DropCause::kPKey, id, packet);
  }
  return RouteByLid(id, node, flight);
}

PortId Forwarder::TakeDirected(PortId ingress, const Node& node,
                               Flight& flight) {
  Packet& packet = flight.packet;
  const bool by_lid = packet.dlid != Lid::kPermissive;
  const mad::SmiVerdict verdict = mad::SmiReceive(
      packet.mad, {.is_switch = true, .port_count = node.port_count},
      by_lid ? uint8_t{0} : subnet_.port(ingress).number);
  switch (verdict.step) {
    case SmiStep::kDeliver:
      return Deliver(ingress, packet);
    case SmiStep::kForward:
      packet.slid = packet.dlid = Lid::kPermissive;
      return subnet_.port_id(node, verdict.egress);
    case SmiStep::kRouteByLid: {
      // The answer comes back to this switch, which needs a LID for it.
      packet.slid = subnet_.port(node.first_port).info.lid;
      packet.dlid = verdict.dlid;
      return RouteByLid(node.first_port, node, flight);
    }
    default:
      return NoWay(DropCause::kDirectedRoute, ingress, packet);
  }
}

PortId Forwarder::RouteByLid(PortId ingress, const Node& node, Flight& flight) {
  Packet& packet = flight.packet;
  if (wire::IsMulticast(packet.dlid)) {
    Replicate(ingress, node, flight);
    return kNoPort;
  }
  NodePort& in = subnet_.port(ingress);
  const NodePort& own = subnet_.port(node.first_port);
  const bool in_range =
      packet.dlid != Lid::kUnassigned &&
      static_cast<uint16_t>(packet.dlid) <= node.sw->info.linear_fdb_top;
  const uint8_t egress =
      in_range ? node.sw->linear.Lookup(packet.dlid) : LinearTable::kNoPort;
  if (egress == 0 && own.Owns(packet.dlid)) {
    return IsDirectedRoute(packet) ? TakeDirected(ingress, node, flight)
                                   : Deliver(ingress, packet);
  }
  if (egress == 0 || egress > node.port_count) {
    in.Events().relay_dlid_mapping += packet.Count();
    return NoWay(DropCause::kNoRoute, ingress, packet);
  }
  if (egress == in.number) {
    in.Events().relay_looping += packet.Count();
    return NoWay(DropCause::kLooping, ingress, packet);
  }
  return subnet_.port_id(node, egress);
}

void Forwarder::Replicate(PortId ingress, const Node& node,
                          const Flight& flight) {
  NodePort& in = subnet_.port(ingress);
  const mad::SwitchInfo& info = node.sw->info;
  const Lid lid = flight.packet.dlid;
  const bool in_range = !flight.packet.vl15 &&
                        (info.multicast_fdb_top == 0 ||
                         static_cast<uint16_t>(lid) <= info.multicast_fdb_top);
  if (!in_range || flight.hops > kMaxMulticastHops) {
    ++in.Events().relay_dlid_mapping;
    Drop(in_range ? DropCause::kHopLimit : DropCause::kNoRoute, ingress,
         flight.packet);
    return;
  }
  bool member = false;
  for (int number = 0; number <= node.port_count; ++number) {
    if (!node.sw->multicast.Contains(lid, number)) continue;
    member = true;
    if (number == in.number) continue;
    if (number == 0) {
      Deliver(ingress, flight.packet);
      continue;
    }
    const PortId egress = subnet_.port_id(node, number);
    if (++copies_ > 2 * subnet_.ports().size()) {
      ++subnet_.port(egress).Events().xmit_hoq_lifetime;
      Drop(DropCause::kCopyLimit, egress, flight.packet);
      continue;
    }
    // Depth first: copies are not queued, so a burst needs no memory.
    Flight copy = flight;
    Carry(copy, ingress, egress);
  }
  if (member) return;  // perhaps the sender alone: nothing is lost
  ++in.Events().relay_dlid_mapping;
  Drop(DropCause::kNoRoute, ingress, flight.packet);
}

PortId Forwarder::Deliver(PortId ingress, const Packet& packet) {
  ++totals_.delivered;
  sink_.OnPacket(ingress, packet);
  return kNoPort;
}

bool Forwarder::Drop(DropCause cause, PortId port, const Packet& packet,
                     uint32_t fault) {
  ++totals_.dropped;
  events_.OnDrop(
      {.packet = packet, .port = port, .cause = cause, .fault = fault});
  return false;
}

PortId Forwarder::NoWay(DropCause cause, PortId port, const Packet& packet) {
  Drop(cause, port, packet);
  return kNoPort;
}

}  // namespace ibemu::fabric
