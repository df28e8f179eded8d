// What the subnet manager tells those who build on it.
#ifndef IBEMU_FABRIC_SM_SUBNET_OBSERVER_H_
#define IBEMU_FABRIC_SM_SUBNET_OBSERVER_H_

#include <vector>

#include "fabric/subnet/node.h"
#include "mad/address.h"
#include "mad/wire/notice.h"
#include "mad/wire/sm_info.h"

namespace ibemu::fabric {

// A subnet manager of the subnet, ours or another one.
struct SmIdentity {
  PortId port = kNoPort;
  wire::Lid lid = wire::Lid::kUnassigned;
  wire::Guid guid{};  // of its port
  uint8_t priority = 0;
  mad::SmState state = mad::SmState::kNotActive;
  uint32_t act_count = 0;
};

// Calls come while the manager is at work: from a handler of arriving MADs or
// of a timer.  An observer may send MADs and call the manager.
class SubnetObserver {
 public:
  virtual ~SubnetObserver() = default;

  // We became the master, with the whole subnet configured, or are it no
  // longer.  Not called for the state that there is when one begins to observe.
  virtual void OnMastership(bool is_master) = 0;

  // End ports (of a switch: port 0) got into reach, with LIDs and ACTIVE, or
  // out of it: traps 64 and 65.  Only while we are master, and not for what was
  // there when we became it.
  virtual void OnPorts(const std::vector<PortId>& came,
                       const std::vector<PortId>& went) = 0;

  // A trap arrived while we are master, and was repressed.
  virtual void OnNotice(const mad::Notice& notice,
                        const mad::Arrival& arrival) = 0;
};

// Takes the GMPs of subnet administration (management class 0x03) that reach
// the manager's port, whatever the manager's state.
class GmpHandler {
 public:
  // True: it was for the administration; what answers it is sent later by
  // MadSender, or never.  False: a host's program on the same port may want it,
  // for instance the answer to its own query.
  virtual bool Take(const mad::Arrival& arrival) = 0;

 protected:
  ~GmpHandler() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SM_SUBNET_OBSERVER_H_
