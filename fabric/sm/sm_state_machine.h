// The states of a subnet manager: IBA vol 1 §14.4.1.
#ifndef IBEMU_FABRIC_SM_SM_STATE_MACHINE_H_
#define IBEMU_FABRIC_SM_SM_STATE_MACHINE_H_

#include <cstdint>

#include "mad/wire/sm_info.h"

namespace ibemu::fabric {

// A Set(SMInfo)'s modifier, §14.4.1 table 198.
enum class SmControl : uint32_t {
  kHandover = 1,
  kAcknowledge = 2,
  kDisable = 3,
  kStandby = 4,
  kDiscover = 5,
};

// Who wins when two managers meet: the higher priority, then the lower GUID.
bool Outranks(const mad::SmInfo& one, const mad::SmInfo& other);

// No clock and no packets: its owner sends what follows from a change of
// state.  DISCOVERING is a state of moments: the fabric is known, what takes
// time is to ask the other managers.
class SmStateMachine {
 public:
  mad::SmState state() const { return state_; }

  // A control packet arrived.
  enum class Verdict {
    kRefused,       // not in this state: nothing has changed
    kTaken,         //
    kAcknowledged,  // HANDOVER: the sender expects ACKNOWLEDGE
  };
  Verdict OnControl(SmControl control);

  // Another manager told about itself.  The result is what its owner should do;
  // kFollow has changed the state to STANDBY.
  enum class Advice {
    kIgnore,
    kAskAgain,  // it is the better one and not ready for a handover yet
    kHandOver,  // send it HANDOVER
    kFollow,    // it is, or will be, the master
  };
  Advice OnPeer(const mad::SmInfo& own, const mad::SmInfo& peer);

  // Our HANDOVER was taken.
  void OnHandedOver();

  // The master that we follow does not answer, or is none any more.
  void OnMasterLost();

  // All other managers were asked and none was better: DISCOVERING ends.
  void OnDiscovered();

  // Our port went away, or belongs to another manager; and it is ours again.
  void Stop() { state_ = mad::SmState::kNotActive; }
  void Restart() { state_ = mad::SmState::kDiscovering; }

 private:
  mad::SmState state_ = mad::SmState::kDiscovering;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SM_STATE_MACHINE_H_
