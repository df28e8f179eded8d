// Questions to a port's own agents, without the wire: Linux's process_mad.
#ifndef IBEMU_SYSFS_LOCAL_MAD_H_
#define IBEMU_SYSFS_LOCAL_MAD_H_

#include "absl/status/statusor.h"
#include "mad/port.h"
#include "mad/wire/attribute_id.h"

namespace ibemu::sysfs {

// Performance Get of `attribute` for port `number`; gives the whole answer.
//
// Errors: InvalidArgument when the port has no such attribute.
absl::StatusOr<mad::MadBytes> GetPerformance(mad::Port& port, int number,
                                             mad::AttributeId attribute);

// True when the port runs at Mellanox's FDR10, whose PortInfo says QDR.
bool IsFdr10(mad::Port& port, int number);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_LOCAL_MAD_H_
