// A subnet manager, with its administration, inside the fabric.
#ifndef IBEMU_FABRIC_MANAGEMENT_SERVICE_H_
#define IBEMU_FABRIC_MANAGEMENT_SERVICE_H_

#include "mad/port.h"

namespace ibemu::fabric {

// Comes before the listener of the port that it is placed on.
class ManagementService {
 public:
  // A MAD that none of the node's own agents took.  False: it is not for the
  // service either, and goes to the port's listener.
  virtual bool Take(const mad::Arrival& arrival) = 0;

 protected:
  ~ManagementService() = default;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_MANAGEMENT_SERVICE_H_
