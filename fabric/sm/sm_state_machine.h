// SmStateMachine: the states of a subnet manager, IBA vol 1 §14.4.1.
#ifndef IBEMU_FABRIC_SM_SM_STATE_MACHINE_H_
#define IBEMU_FABRIC_SM_SM_STATE_MACHINE_H_

#include <cstdint>

#include "mad/wire/sm_info.h"

namespace ibemu::fabric {

// The attribute modifier of Set(SMInfo), §14.4.1 table 198.
enum class SmControl : uint32_t {
  kHandover = 1,
  kAcknowledge = 2,
  kDisable = 3,
  kStandby = 4,
  kDiscover = 5,
};

// Returns true if `one` wins over `other` when two managers meet: it has the
// higher priority or, if they are equal, the lower GUID.
bool Outranks(const mad::SmInfo& one, const mad::SmInfo& other);

// The state machine alone, without timers or packets: its owner sends what
// follows from a change of state.  The manager is DISCOVERING only for moments,
// because the fabric is known; only the requests to other managers take time.
class SmStateMachine {
 public:
  mad::SmState state() const { return state_; }

  // Handles a control packet, that is, a Set(SMInfo).
  enum class Verdict {
    kRefused,       // not allowed in this state: nothing has changed
    kTaken,         //
    kAcknowledged,  // HANDOVER: the sender expects ACKNOWLEDGE
  };
  Verdict OnControl(SmControl control);

  // Handles the SMInfo of another manager.  The result is what the owner should
  // do.  After kFollow the state is STANDBY.
  enum class Advice {
    kIgnore,
    kAskAgain,  // it outranks us but is not ready for a handover
    kHandOver,  // send it HANDOVER
    kFollow,    // it is, or will be, the master
  };
  Advice OnPeer(const mad::SmInfo& own, const mad::SmInfo& peer);

  // The other manager has accepted our HANDOVER.
  void OnHandedOver();

  // The master that we follow does not answer, or is no longer a master.
  void OnMasterLost();

  // All other managers were asked and none outranks us: DISCOVERING ends.
  void OnDiscovered();

  // Our port went down or was taken by another manager; and it is ours again.
  void Stop() { state_ = mad::SmState::kNotActive; }
  void Restart() { state_ = mad::SmState::kDiscovering; }

 private:
  mad::SmState state_ = mad::SmState::kDiscovering;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SM_STATE_MACHINE_H_
