// The performance management agent: IBA vol 1 chapter 16.1.
#ifndef IBEMU_FABRIC_PMA_H_
#define IBEMU_FABRIC_PMA_H_

#include "fabric/subnet.h"
#include "mad/address.h"
#include "mad/port.h"

namespace ibemu::fabric {

// What the agent keeps of one port beyond its counters.
struct PmaPort {};

// Answers for every port of every node.
class Pma {
 public:
  explicit Pma(Subnet& subnet) : subnet_(subnet) {}

  // A MAD of class PerfMgt arrived at `port` (port 0 of a switch).
  mad::LocalVerdict Handle(PortId port, const mad::Arrival& request,
                           mad::MadBytes& reply);

 private:
  Subnet& subnet_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_PMA_H_
