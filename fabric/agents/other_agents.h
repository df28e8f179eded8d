// OtherAgents: the general services that a device answers itself, besides
// performance management.
#ifndef IBEMU_FABRIC_AGENTS_OTHER_AGENTS_H_
#define IBEMU_FABRIC_AGENTS_OTHER_AGENTS_H_

#include "base/timers.h"
#include "fabric/agents/congestion_control.h"
#include "fabric/agents/mellanox_agent.h"
#include "fabric/subnet/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// The agents for congestion control and for Mellanox's vendor class.  Baseboard
// management, device management and SNMP tunnelling are left to programs, as on
// adapters under Linux; without such a program the answer is "unsupported".
class OtherAgents {
 public:
  OtherAgents(Subnet& subnet, Timers& timers)
      : congestion_control_(subnet, timers), mellanox_(subnet, timers) {}

  // Handles a MAD of a class other than PerfMgt that arrived at QP1 of `port`.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  CongestionControl congestion_control_;
  MellanoxAgent mellanox_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_AGENTS_OTHER_AGENTS_H_
