// Requests to a port's own agents that do not take the wire: Linux's
// process_mad.
#ifndef IBEMU_SYSFS_LOCAL_MAD_H_
#define IBEMU_SYSFS_LOCAL_MAD_H_

#include "absl/status/statusor.h"
#include "mad/port.h"
#include "mad/wire/attribute_id.h"

namespace ibemu::sysfs {

// Does a Get of the performance management attribute `attribute` for port
// `number`, and returns the whole response.
//
// Errors: InvalidArgument if the port has no such attribute.
absl::StatusOr<mad::MadBytes> GetPerformance(mad::Port& port, int number,
                                             mad::AttributeId attribute);

// Returns true if the port runs at Mellanox's FDR10, which PortInfo shows as
// QDR.
bool IsFdr10(mad::Port& port, int number);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_LOCAL_MAD_H_
