#include "fabric/sm/sm_election.h"

#include <utility>

#include "mad/wire/mad_header.h"
#include "mad/wire/port_codes.h"

namespace ibemu::fabric {

using mad::MadStatus, mad::Method, mad::MgmtClass, mad::SmInfo, mad::Smp,
    mad::SmState;

namespace {

// OpenSM's default.  OpenSM does not deal with managers that have another
// SM_Key.
constexpr uint64_t kSmKey = 1;

// The delay after which a manager that outranks us but is still discovering is
// asked again.
constexpr absl::Duration kAskAgain = absl::Seconds(1);

// A master that says so many times in a row that it is none has given up.
constexpr int kIdleAnswers = 3;

}  // namespace

SmElection::SmElection(const Subnet& subnet, PortId port, MadSender& sender,
                       Timers& timers, MastershipCallback on_mastership)
    : subnet_(subnet),
      port_(port),
      timers_(timers),
      on_mastership_(std::move(on_mastership)),
      dialogue_(port, sender, timers) {}

SmElection::~SmElection() {
  timers_.Cancel(ask_timer_);
  timers_.Cancel(control_);
}

void SmElection::Start() {
  machine_.OnDiscovered();
  for (const NodePort& port : subnet_.ports()) UpdatePeer(subnet_.id_of(port));
}

void SmElection::Stop() {
  const bool was_master = IsMaster();
  machine_.Stop();
  master_port_ = kNoPort;
  if (was_master) EndMastership();
}

void SmElection::Restart() {
  machine_.Restart();
  Discover();
}

SmInfo SmElection::Info() const {
  return {.guid = subnet_.port(port_).guid,
          .sm_key = kSmKey,
          .act_count = act_count_,
          .sm_state = machine_.state()};
}

SmIdentity SmElection::self() const {
  const mad::SmInfo info = Info();
  return {.port = port_,
          .lid = subnet_.port(port_).info.lid,
          .guid = info.guid,
          .priority = info.priority,
          .state = info.sm_state,
          .act_count = info.act_count};
}

SmIdentity SmElection::master() const {
  if (IsMaster()) return self();
  if (master_port_ == kNoPort) return {};
  return {.port = master_port_,
          .lid = subnet_.port(master_port_).info.lid,
          .guid = master_.guid,
          .priority = master_.priority,
          .state = master_.sm_state,
          .act_count = master_.act_count};
}

// SMInfo, §14.2.5.13.  The attribute of a Set describes its sender.
void SmElection::TakeRequest(const Smp& request, mad::MadBytes& reply) {
  ++act_count_;
  Smp answer = request;
  answer.method = Method::kGetResp;
  answer.direction = request.mgmt_class == MgmtClass::kSubnetDirectedRoute;
  answer.status = MadStatus::kOk;
  if (request.method == Method::kSet) {
    const auto control = static_cast<SmControl>(request.attr_mod);
    const SmStateMachine::Verdict verdict = machine_.OnControl(control);
    if (verdict == SmStateMachine::Verdict::kRefused) {
      answer.status = MadStatus::kInvalidField;
    } else {
      const bool acknowledge =
          verdict == SmStateMachine::Verdict::kAcknowledged;
      const PortId from = FindPeer(wire::Decode<SmInfo>(request.data).guid);
      // This runs after the answer has been sent.
      timers_.Cancel(control_);
      control_ =
          timers_.RunAt(timers_.Now(), [this, control, acknowledge, from] {
            control_ = TimerId::kNone;
            OnControl(control, acknowledge, from);
          });
    }
  }
  wire::Encode(Info(), answer.data);
  wire::Encode(answer, reply);
}

void SmElection::OnControl(SmControl control, bool acknowledge, PortId from) {
  switch (control) {
    case SmControl::kHandover: {
      if (!IsMaster()) return;
      const auto path = SubnetReach(subnet_, port_).PathTo(from);
      if (acknowledge && path) {
        dialogue_.Set(*path, SmControl::kAcknowledge, Info(),
                      [](const std::optional<SmInfo>&) {});
      }
      BecomeMaster();
      break;
    }
    case SmControl::kStandby:
      if (from != kNoPort) Follow(from, SmInfo());
      break;
    case SmControl::kDiscover:
      Discover();
      break;
    case SmControl::kAcknowledge:
    case SmControl::kDisable:
      break;
  }
}

void SmElection::UpdatePeer(PortId id) {
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

PortId SmElection::FindPeer(wire::Guid guid) const {
  for (const PortId peer : peers_) {
    if (subnet_.port(peer).guid == guid) return peer;
  }
  return kNoPort;
}

void SmElection::AskIn(absl::Duration delay) {
  timers_.Cancel(ask_timer_);
  ask_timer_ = timers_.RunAfter(delay, [this] {
    ask_timer_ = TimerId::kNone;
    AskAll();
  });
}

void SmElection::AskAll() {
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

void SmElection::Ask(const SubnetReach& reach, PortId peer) {
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

void SmElection::OnAnswer(PortId peer, const std::optional<SmInfo>& info) {
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

void SmElection::OnMasterAnswer(const SmInfo& info) {
  master_ = info;
  const bool idle = info.sm_state == SmState::kNotActive ||
                    info.sm_state == SmState::kStandby;
  idle_answers_ = idle ? idle_answers_ + 1 : 0;
  if (idle_answers_ == kIdleAnswers) LoseMaster();
}

// The peer is master from its answer on, and not before: a manager that is
// discovering while another one is master does not become it.
void SmElection::HandOver(PortId peer, const SmInfo& info) {
  const auto path = SubnetReach(subnet_, port_).PathTo(peer);
  if (!path) return;
  ++act_count_;
  dialogue_.Set(*path, SmControl::kHandover, Info(),
                [this, peer, info](const std::optional<SmInfo>& answer) {
                  if (!answer || !IsMaster()) return;
                  machine_.OnHandedOver();
                  Follow(peer, info);
                  EndMastership();
                });
}

void SmElection::Follow(PortId peer, const SmInfo& info) {
  master_port_ = peer;
  master_ = info;
  idle_answers_ = 0;
}

void SmElection::LoseMaster() {
  machine_.OnMasterLost();
  master_port_ = kNoPort;
  Discover();
}

void SmElection::Discover() {
  dialogue_.Clear();
  asked_ = 0;
  AskAll();
  if (asked_ == 0) EndDiscovery();
}

void SmElection::EndDiscovery() {
  if (machine_.state() == SmState::kDiscovering) BecomeMaster();
}

void SmElection::BecomeMaster() {
  machine_.OnDiscovered();
  master_port_ = kNoPort;
  on_mastership_(true);
}

void SmElection::EndMastership() {
  dialogue_.Clear();
  asked_ = 0;
  on_mastership_(false);
}

}  // namespace ibemu::fabric
