// The general services a device answers itself, besides the PMA.
#ifndef IBEMU_FABRIC_AGENTS_OTHER_AGENTS_H_
#define IBEMU_FABRIC_AGENTS_OTHER_AGENTS_H_

#include "base/timers.h"
#include "fabric/agents/congestion_control.h"
#include "fabric/agents/mellanox_agent.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// Congestion control and Mellanox's vendor class.  Baseboard and device
// management and SNMP tunnelling belong to programs, as on adapters under
// Linux: without one the answer is "unsupported".
class OtherAgents {
 public:
  OtherAgents(Subnet& subnet, Timers& timers)
      : congestion_control_(subnet, timers), mellanox_(subnet, timers) {}

  // A MAD of another class than PerfMgt arrived at `port`'s QP1.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  CongestionControl congestion_control_;
  MellanoxAgent mellanox_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_OTHER_AGENTS_H_
