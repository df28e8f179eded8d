// SubnetObserver and GmpHandler: the interfaces through which the subnet
// manager calls its users.
#ifndef IBEMU_FABRIC_SM_SUBNET_OBSERVER_H_
#define IBEMU_FABRIC_SM_SUBNET_OBSERVER_H_

#include <vector>

#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "mad/wire/notice.h"
#include "mad/wire/sm_info.h"

namespace ibemu::fabric {

// The identity of a subnet manager of the subnet, this one or another.
struct SmIdentity {
  PortId port = kNoPort;
  wire::Lid lid = wire::Lid::kUnassigned;
  wire::Guid guid{};  // of its port
  uint8_t priority = 0;
  mad::SmState state = mad::SmState::kNotActive;
  uint32_t act_count = 0;
};

// The observer of a subnet manager.  Calls are made by a handler of arriving
// MADs or of a timer.  An observer may send MADs and call the manager.
class SubnetObserver {
 public:
  virtual ~SubnetObserver() = default;

  // The manager became master, with the whole subnet configured, or is master
  // no longer.  Not called for the state at the time when the observer is
  // added.
  virtual void OnMastership(bool is_master) = 0;

  // End ports (on a switch: port 0) came into reach, with LIDs and ACTIVE, or
  // went out of reach: traps 64 and 65.  Called only while the manager is
  // master, and not for ports that were there when it became master.
  virtual void OnPorts(const std::vector<PortId>& came,
                       const std::vector<PortId>& went) = 0;

  // A trap arrived while the manager was master, and has been repressed.
  virtual void OnNotice(const mad::Notice& notice,
                        const mad::Arrival& arrival) = 0;
};

// The receiver of the GMPs of subnet administration (management class 0x03)
// that reach the manager's port, in every state of the manager.
class GmpHandler {
 public:
  // Returns true if the MAD was for the administration.  An answer, if there is
  // one, is sent later by MadSender.  Returns false if a program of the host on
  // the same port may want it, for instance because it is the answer to its own
  // query.
  virtual bool Take(const mad::Arrival& arrival) = 0;

 protected:
  ~GmpHandler() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_OBSERVER_H_
