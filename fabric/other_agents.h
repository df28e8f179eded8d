// The general services a device answers itself, besides the PMA: baseboard and
// device management, SNMP tunnelling, congestion control.
#ifndef IBEMU_FABRIC_OTHER_AGENTS_H_
#define IBEMU_FABRIC_OTHER_AGENTS_H_

#include "fabric/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

class OtherAgents {
 public:
  explicit OtherAgents(Subnet& subnet) : subnet_(subnet) {}

  // A MAD of another class than PerfMgt arrived at `port`'s QP1.
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  Subnet& subnet_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_OTHER_AGENTS_H_
