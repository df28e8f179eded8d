#include "fabric/sm/subnet_manager.h"

#include <utility>

#include "mad/wire/mad_header.h"
#include "mad/wire/notice.h"
#include "mad/wire/port_codes.h"

namespace ibemu::fabric {
namespace {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus, mad::Method,
    mad::MgmtClass, mad::Smp;
using mad::capability::kIsSm;

// The time between two light sweeps, as with OpenSM's -s.
constexpr absl::Duration kTick = absl::Seconds(10);

PortId FindHome(const Subnet& subnet) {
  PortId home = kNoPort;
  for (const NodePort& port : subnet.ports()) {
    const Node& node = subnet.node(port.node);
    if (node.is_switch()) return node.first_port;
    // The first port of the last adapter, or the first one with a cable.
    const bool next_node =
        home == kNoPort || subnet.port(home).node != port.node;
    if (next_node ||
        (subnet.port(home).peer == kNoPort && port.peer != kNoPort)) {
      home = subnet.id_of(port);
    }
  }
  return home;
}

}  // namespace

SubnetManager::SubnetManager(Subnet& subnet, Links& links, FabricEvents& events,
                             MadSender& sender, SweepHistory& sweeps,
                             Timers& timers)
    : subnet_(subnet),
      sender_(sender),
      timers_(timers),
      port_(FindHome(subnet)),
      election_(subnet, port_, sender, timers,
                [this](bool is_master) { sweeper_.OnMastership(is_master); }),
      sweeper_(subnet, links, events, port_, election_, observers_, sweeps,
               timers) {}

SubnetManager::~SubnetManager() {
  timers_.Cancel(tick_);
  timers_.Cancel(own_change_);
}

absl::Status SubnetManager::Start() {
  absl::Status status = sweeper_.SweepAtOnce();
  if (!status.ok()) return status;
  alive_ = MayLive();
  // Else when its node is there.
  if (alive_) {
    subnet_.port(port_).info.capability_mask |= kIsSm;
    election_.Start();
  }
  tick_ = timers_.RunAfter(kTick, [this] { Tick(); });
  return absl::OkStatus();
}

void SubnetManager::SetMembers(wire::Lid mlid, MlidMembers members) {
  MulticastRouter& router = sweeper_.multicast();
  router.SetMembers(mlid, std::move(members));
  if (IsMaster()) router.Route(mlid);
}

void SubnetManager::OnHostSm(bool is_sm) {
  host_sm_ = is_sm;
  uint32_t& mask = subnet_.port(port_).info.capability_mask;
  if (is_sm) {
    mask &= ~kIsSm;
  } else if (MayLive()) {
    mask |= kIsSm;
  }
  OnPortChange(port_);
}

void SubnetManager::OnPortChange(PortId port) {
  if (!sweeper_.CountChange()) return;
  if (subnet_.port(port).node != subnet_.port(port_).node) {
    return election_.UpdatePeer(port);
  }
  // Handled later, because the change may be incomplete.
  if (own_change_ != TimerId::kNone) return;
  own_change_ = timers_.RunAt(timers_.Now(), [this] {
    own_change_ = TimerId::kNone;
    OnOwnNodeChange();
  });
}

bool SubnetManager::MayLive() const {
  return subnet_.NodeOf(port_).up && !host_sm_;
}

void SubnetManager::OnOwnNodeChange() {
  if (alive_ && MayLive()) return sweeper_.Request();
  if (alive_ == MayLive()) return;
  alive_ = !alive_;
  if (!alive_) return election_.Stop();
  subnet_.port(port_).info.capability_mask |= kIsSm;
  election_.Restart();
}

void SubnetManager::Tick() {
  tick_ = timers_.RunAfter(kTick, [this] { Tick(); });
  sweeper_.Request();
  election_.AskAll();
}

LocalVerdict SubnetManager::Take(const mad::Arrival& arrival,
                                 mad::MadBytes& reply) {
  if (!MayLive()) return LocalVerdict::kUnhandled;
  switch (wire::Get<&Smp::mgmt_class>(arrival.mad)) {
    case MgmtClass::kSubnetLidRouted:
    case MgmtClass::kSubnetDirectedRoute:
      return TakeSmp(arrival, reply);
    case MgmtClass::kSubnetAdministration:
      return gmp_handler_ != nullptr && gmp_handler_->Take(arrival)
                 ? LocalVerdict::kConsumed
                 : LocalVerdict::kUnhandled;
    default:
      return LocalVerdict::kUnhandled;
  }
}

LocalVerdict SubnetManager::TakeSmp(const mad::Arrival& arrival,
                                    mad::MadBytes& reply) {
  const auto smp = wire::Decode<Smp>(arrival.mad);
  bool taken = false;
  if (smp.attr_id == AttributeId::kSmInfo) {
    if (smp.method == Method::kGet || smp.method == Method::kSet) {
      election_.TakeRequest(smp, reply);
      return LocalVerdict::kReply;
    }
    taken = smp.method == Method::kGetResp && election_.TakeAnswer(arrival.mad);
  } else if (smp.attr_id == AttributeId::kNotice) {
    taken = smp.method == Method::kTrap && TakeTrap(arrival, smp);
  }
  return taken ? LocalVerdict::kConsumed : LocalVerdict::kUnhandled;
}

// Handles a trap (§13.4.9).  A manager that is not master ignores it.
bool SubnetManager::TakeTrap(const mad::Arrival& arrival, const Smp& trap) {
  if (!IsMaster() || trap.mgmt_class != MgmtClass::kSubnetLidRouted) {
    return false;
  }
  Repress(arrival, trap);
  const auto notice = wire::Decode<mad::Notice>(trap.data);
  // A forged trap does no harm: a sweep without changes does nothing.
  sweeper_.Request();
  observers_.ForEach(
      [&](SubnetObserver& observer) { observer.OnNotice(notice, arrival); });
  return true;
}

void SubnetManager::Repress(const mad::Arrival& arrival, Smp trap) {
  trap.method = Method::kTrapRepress;
  trap.status = MadStatus::kOk;
  mad::Outgoing packet;
  packet.qp = 0;
  packet.to = mad::ReplyTo(arrival);
  packet.to.qpn = 0;
  wire::Encode(trap, packet.mad);
  sender_.SendMad(port_, packet);
}

}  // namespace ibemu::fabric
