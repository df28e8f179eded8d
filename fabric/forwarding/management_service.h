// A subnet manager, with its administration, inside the fabric.
#ifndef IBEMU_FABRIC_FORWARDING_MANAGEMENT_SERVICE_H_
#define IBEMU_FABRIC_FORWARDING_MANAGEMENT_SERVICE_H_

#include "mad/port.h"

namespace ibemu::fabric {

// One of the agents of the port that it is placed on: it comes after those that
// each node has, and before the port's listener.
class ManagementService {
 public:
  // A MAD that none of the node's own agents took; as
  // mad::Port::ProcessLocal().
  virtual mad::LocalVerdict Take(const mad::Arrival& arrival,
                                 mad::MadBytes& reply) = 0;

  // A program of the port's host became a subnet manager there, or is none any
  // more.  CapabilityMask.IsSM is the program's, then nobody's.
  virtual void OnHostSm(bool is_sm) = 0;

 protected:
  ~ManagementService() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_MANAGEMENT_SERVICE_H_
