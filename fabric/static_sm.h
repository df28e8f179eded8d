// --sm=static: a subnet that is configured once, by nobody.
#ifndef IBEMU_FABRIC_STATIC_SM_H_
#define IBEMU_FABRIC_STATIC_SM_H_

#include "absl/status/status.h"
#include "fabric/subnet.h"

namespace ibemu::fabric {

// What fabric.h's ConfigureStatically() does, on the bare state: nobody is
// told.  Links that are down stay unconfigured.
//
// Errors: ResourceExhausted, with nothing changed.
absl::Status ConfigureSubnet(Subnet& subnet);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_STATIC_SM_H_
