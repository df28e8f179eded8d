#include "fabric/sm/subnet_manager.h"

#include <utility>

#include "mad/wire/port_codes.h"

namespace ibemu::fabric {
namespace {

using mad::capability::kIsSm;

// The time between two light sweeps, as with OpenSM's -s.
constexpr absl::Duration kTick = absl::Seconds(10);

// The delay of a sweep: one cut raises traps of many switches, which need only
// one sweep.
constexpr absl::Duration kSettle = absl::Milliseconds(10);

// OpenSM's default.  OpenSM does not deal with managers that have another
// SM_Key.
constexpr uint64_t kSmKey = 1;

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
                             MadSender& sender, Timers& timers)
    : subnet_(subnet),
      sender_(sender),
      timers_(timers),
      port_(FindHome(subnet)),
      dialogue_(port_, sender, timers),
      configurer_(subnet, links, events, port_) {}

SubnetManager::~SubnetManager() {
  for (const TimerId timer :
       {tick_, own_change_, ask_timer_, control_, sweep_timer_}) {
    timers_.Cancel(timer);
  }
}

absl::Status SubnetManager::Start() {
  working_ = true;
  absl::Status status = configurer_.Begin(true);
  while (status.ok() && !configurer_.Continue()) {
  }
  working_ = false;
  if (!status.ok()) return status;
  alive_ = MayLive();
  machine_.OnDiscovered();
  subnet_.port(port_).info.capability_mask |= kIsSm;
  for (const NodePort& port : std::as_const(subnet_).ports()) {
    UpdatePeer(subnet_.id_of(port));
  }
  tick_ = timers_.RunAfter(kTick, [this] { Tick(); });
  return absl::OkStatus();
}

mad::SmInfo SubnetManager::Info() const {
  return {.guid = subnet_.port(port_).guid,
          .sm_key = kSmKey,
          .act_count = act_count_,
          .sm_state = machine_.state()};
}

SmIdentity SubnetManager::self() const {
  const mad::SmInfo info = Info();
  return {.port = port_,
          .lid = subnet_.port(port_).info.lid,
          .guid = info.guid,
          .priority = info.priority,
          .state = info.sm_state,
          .act_count = info.act_count};
}

SmIdentity SubnetManager::master() const {
  if (IsMaster()) return self();
  if (master_port_ == kNoPort) return {};
  return {.port = master_port_,
          .lid = subnet_.port(master_port_).info.lid,
          .guid = master_.guid,
          .priority = master_.priority,
          .state = master_.sm_state,
          .act_count = master_.act_count};
}

void SubnetManager::SetMembers(wire::Lid mlid, MulticastMembers members) {
  MulticastRouter& router = configurer_.multicast();
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
  if (working_) return;
  ++changes_;
  if (subnet_.port(port).node != subnet_.port(port_).node) {
    return UpdatePeer(port);
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
  if (alive_ && MayLive()) return RequestSweep();
  if (alive_ == MayLive()) return;
  alive_ = !alive_;
  if (alive_) return Live();
  const bool was_master = IsMaster();
  machine_.Stop();
  master_port_ = kNoPort;
  if (was_master) TellMastership(false);
}

void SubnetManager::Live() {
  subnet_.port(port_).info.capability_mask |= kIsSm;
  machine_.Restart();
  Discover();
}

void SubnetManager::Tick() {
  tick_ = timers_.RunAfter(kTick, [this] { Tick(); });
  RequestSweep();
  AskAll();
}

void SubnetManager::BecomeMaster() {
  machine_.OnDiscovered();
  master_port_ = kNoPort;
  anew_ = promoted_ = true;
  Sweep();
}

void SubnetManager::TellMastership(bool is_master) {
  if (!is_master) {
    dialogue_.Clear();
    asked_ = 0;
    timers_.Cancel(std::exchange(sweep_timer_, TimerId::kNone));
    sweeping_ = false;
    // Observers that were never told of this mastership are not told of its
    // end.
    if (std::exchange(promoted_, false)) return;
  }
  observers_.ForEach(
      [&](SubnetObserver& observer) { observer.OnMastership(is_master); });
}

void SubnetManager::RequestSweep() {
  if (!IsMaster() || sweeping_ || sweep_timer_ != TimerId::kNone ||
      (changes_ == swept_changes_ && !anew_)) {
    return;
  }
  sweep_timer_ = timers_.RunAfter(kSettle, [this] { Sweep(); });
}

void SubnetManager::Sweep() {
  timers_.Cancel(std::exchange(sweep_timer_, TimerId::kNone));
  swept_changes_ = changes_;
  ++act_count_;
  working_ = true;
  const absl::Status status = configurer_.Begin(anew_);
  working_ = false;
  // There are more ports than LIDs: the subnet stays as it is until the next
  // change.
  if (!status.ok()) return;
  anew_ = false;
  SweepSome();
}

void SubnetManager::SweepSome() {
  sweep_timer_ = TimerId::kNone;
  working_ = true;
  sweeping_ = !configurer_.Continue();
  working_ = false;
  if (!sweeping_) return EndSweep();
  sweep_timer_ = timers_.RunAt(timers_.Now(), [this] { SweepSome(); });
}

void SubnetManager::EndSweep() {
  if (std::exchange(promoted_, false)) {
    TellMastership(true);
  } else if (!configurer_.came().empty() || !configurer_.went().empty()) {
    observers_.ForEach([&](SubnetObserver& observer) {
      observer.OnPorts(configurer_.came(), configurer_.went());
    });
  }
  RequestSweep();  // for what has happened meanwhile
  AskAll();        // there may be new paths to them
}

}  // namespace ibemu::fabric
