#include "fabric/sm/sm_state_machine.h"

namespace ibemu::fabric {

using mad::SmInfo, mad::SmState;

bool Outranks(const SmInfo& one, const SmInfo& other) {
  if (one.priority != other.priority) return one.priority > other.priority;
  return one.guid < other.guid;
}

SmStateMachine::Verdict SmStateMachine::OnControl(SmControl control) {
  const bool standby = state_ == SmState::kStandby;
  switch (control) {
    case SmControl::kHandover:
      // A master gets it, too: another master hands over its part of a merged
      // subnet.
      if (!standby && state_ != SmState::kMaster) return Verdict::kRefused;
      state_ = SmState::kMaster;
      return Verdict::kAcknowledged;
    case SmControl::kAcknowledge:
      // There is nothing to do: OnHandedOver() has changed the state.
      return standby ? Verdict::kTaken : Verdict::kRefused;
    case SmControl::kDisable:
      if (!standby) return Verdict::kRefused;
      state_ = SmState::kNotActive;
      return Verdict::kTaken;
    case SmControl::kStandby:
      if (state_ != SmState::kNotActive) return Verdict::kRefused;
      state_ = SmState::kStandby;
      return Verdict::kTaken;
    case SmControl::kDiscover:
      if (!standby) return Verdict::kRefused;
      state_ = SmState::kDiscovering;
      return Verdict::kTaken;
  }
  return Verdict::kRefused;
}

SmStateMachine::Advice SmStateMachine::OnPeer(const SmInfo& own,
                                              const SmInfo& peer) {
  const bool better = Outranks(peer, own);
  switch (state_) {
    case SmState::kDiscovering:
      // A manager that is also discovering finds us and decides in the same
      // way.
      if (peer.sm_state != SmState::kMaster &&
          (peer.sm_state != SmState::kStandby || !better)) {
        return Advice::kIgnore;
      }
      state_ = SmState::kStandby;
      return Advice::kFollow;
    case SmState::kMaster:
      if (!better || peer.sm_state == SmState::kNotActive) {
        return Advice::kIgnore;
      }
      return peer.sm_state == SmState::kDiscovering ? Advice::kAskAgain
                                                    : Advice::kHandOver;
    default:
      return Advice::kIgnore;
  }
}

void SmStateMachine::OnHandedOver() {
  if (state_ == SmState::kMaster) state_ = SmState::kStandby;
}

void SmStateMachine::OnMasterLost() {
  if (state_ == SmState::kStandby) state_ = SmState::kDiscovering;
}

void SmStateMachine::OnDiscovered() {
  if (state_ == SmState::kDiscovering) state_ = SmState::kMaster;
}

}  // namespace ibemu::fabric
