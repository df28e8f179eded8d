// ManagementService: a subnet manager, with its subnet administration, inside
// the fabric.
#ifndef IBEMU_FABRIC_FORWARDING_MANAGEMENT_SERVICE_H_
#define IBEMU_FABRIC_FORWARDING_MANAGEMENT_SERVICE_H_

#include "mad/port.h"

namespace ibemu::fabric {

// An additional agent of the port on which it is placed.  It is asked after the
// agents that each node has, and before the port's listener.
class ManagementService {
 public:
  // Takes a MAD that none of the node's own agents handled; like
  // mad::Port::ProcessLocal().
  virtual mad::LocalVerdict Take(const mad::Arrival& arrival,
                                 mad::MadBytes& reply) = 0;

  // A program on the port's host became a subnet manager there, or stopped
  // being one.  While it is, CapabilityMask.IsSM belongs to the program; when
  // it stops, the bit is cleared and this is called after that.
  virtual void OnHostSm(bool is_sm) = 0;

 protected:
  ~ManagementService() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_MANAGEMENT_SERVICE_H_
