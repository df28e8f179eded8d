// The MADs that a subnet manager receives.
#include <optional>

#include "fabric/sm/subnet_manager.h"
#include "mad/wire/mad_header.h"
#include "mad/wire/notice.h"

namespace ibemu::fabric {

using mad::AttributeId, mad::LocalVerdict, mad::MadStatus, mad::Method,
    mad::MgmtClass, mad::SmInfo, mad::Smp;

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
      return TakeSmInfo(smp, reply);
    }
    taken = smp.method == Method::kGetResp && dialogue_.TakeAnswer(arrival.mad);
  } else if (smp.attr_id == AttributeId::kNotice) {
    taken = smp.method == Method::kTrap && TakeTrap(arrival, smp);
  }
  return taken ? LocalVerdict::kConsumed : LocalVerdict::kUnhandled;
}

// SMInfo, §14.2.5.13.  The attribute of a Set describes its sender.
LocalVerdict SubnetManager::TakeSmInfo(const Smp& request,
                                       mad::MadBytes& reply) {
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
  return LocalVerdict::kReply;
}

void SubnetManager::OnControl(SmControl control, bool acknowledge,
                              PortId from) {
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

// Handles a trap (§13.4.9).  A manager that is not master ignores it.
bool SubnetManager::TakeTrap(const mad::Arrival& arrival, const Smp& trap) {
  if (!IsMaster() || trap.mgmt_class != MgmtClass::kSubnetLidRouted) {
    return false;
  }
  Repress(arrival, trap);
  const auto notice = wire::Decode<mad::Notice>(trap.data);
  // A forged trap does no harm: a sweep without changes does nothing.
  RequestSweep();
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
