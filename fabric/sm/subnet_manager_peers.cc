// The dealings of a subnet manager with other managers.
#include <utility>

#include "fabric/sm/subnet_manager.h"
#include "mad/wire/port_codes.h"

namespace ibemu::fabric {

using mad::SmInfo, mad::SmState;

namespace {

// The delay after which a manager that outranks us but is still discovering is
// asked again.
constexpr absl::Duration kAskAgain = absl::Seconds(1);

// A master that says so many times in a row that it is none has given up.
constexpr int kIdleAnswers = 3;

}  // namespace

void SubnetManager::UpdatePeer(PortId id) {
  const NodePort& port = subnet_.port(id);
  const bool is_sm = id != port_ && subnet_.node(port.node).up &&
                     (port.info.capability_mask & mad::capability::kIsSm) != 0;
  if (is_sm == peers_.contains(id)) return;
  if (is_sm) {
    peers_.insert(id);
    if (IsMaster()) AskIn(absl::ZeroDuration());
  } else {
    peers_.erase(id);
    if (id == master_port_) AskIn(absl::ZeroDuration());
  }
}

PortId SubnetManager::FindPeer(wire::Guid guid) const {
  for (const PortId peer : peers_) {
    if (subnet_.port(peer).guid == guid) return peer;
  }
  return kNoPort;
}

void SubnetManager::AskIn(absl::Duration delay) {
  timers_.Cancel(ask_timer_);
  ask_timer_ = timers_.RunAfter(delay, [this] {
    ask_timer_ = TimerId::kNone;
    AskAll();
  });
}

// A master asks all other managers; in STANDBY only the master is asked.
void SubnetManager::AskAll() {
  switch (machine_.state()) {
    case SmState::kNotActive:
      return;
    case SmState::kStandby:
      if (master_port_ == kNoPort) return LoseMaster();
      return Ask(SubnetReach(subnet_, port_), master_port_);
    default:
      break;
  }
  if (peers_.empty()) return;
  const SubnetReach reach(subnet_, port_);
  for (const PortId peer : peers_) Ask(reach, peer);
}

void SubnetManager::Ask(const SubnetReach& reach, PortId peer) {
  const auto path = reach.PathTo(peer);
  if (!path) {
    if (peer == master_port_) LoseMaster();
    return;
  }
  ++act_count_;
  ++asked_;
  dialogue_.Get(*path, [this, peer](const std::optional<SmInfo>& info) {
    --asked_;
    OnAnswer(peer, info);
    if (asked_ == 0) EndDiscovery();
  });
}

void SubnetManager::OnAnswer(PortId peer, const std::optional<SmInfo>& info) {
  if (peer == master_port_ && machine_.state() == SmState::kStandby) {
    return info ? OnMasterAnswer(*info) : LoseMaster();
  }
  if (!info) return;
  switch (machine_.OnPeer(Info(), *info)) {
    case SmStateMachine::Advice::kIgnore:
      break;
    case SmStateMachine::Advice::kAskAgain:
      AskIn(kAskAgain);
      break;
    case SmStateMachine::Advice::kHandOver:
      HandOver(peer, *info);
      break;
    case SmStateMachine::Advice::kFollow:
      Follow(peer, *info);
      break;
  }
}

void SubnetManager::OnMasterAnswer(const SmInfo& info) {
  master_ = info;
  const bool idle = info.sm_state == SmState::kNotActive ||
                    info.sm_state == SmState::kStandby;
  idle_answers_ = idle ? idle_answers_ + 1 : 0;
  if (idle_answers_ == kIdleAnswers) LoseMaster();
}

// The peer is master from its answer on, and not before: a manager that is
// discovering while another one is master does not become it.
void SubnetManager::HandOver(PortId peer, const SmInfo& info) {
  const auto path = SubnetReach(subnet_, port_).PathTo(peer);
  if (!path) return;
  ++act_count_;
  dialogue_.Set(*path, SmControl::kHandover, Info(),
                [this, peer, info](const std::optional<SmInfo>& answer) {
                  if (!answer || !IsMaster()) return;
                  machine_.OnHandedOver();
                  Follow(peer, info);
                  TellMastership(false);
                });
}

void SubnetManager::Follow(PortId peer, const SmInfo& info) {
  master_port_ = peer;
  master_ = info;
  idle_answers_ = 0;
}

void SubnetManager::LoseMaster() {
  machine_.OnMasterLost();
  master_port_ = kNoPort;
  Discover();
}

void SubnetManager::Discover() {
  dialogue_.Clear();
  asked_ = 0;
  AskAll();
  if (asked_ == 0) EndDiscovery();
}

void SubnetManager::EndDiscovery() {
  if (machine_.state() == SmState::kDiscovering) BecomeMaster();
}

}  // namespace ibemu::fabric
