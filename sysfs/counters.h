// The directory ports/N/counters.  Its files ask the port's performance
// management agent with a local Get, so that perfquery and sysfs never differ.
#ifndef IBEMU_SYSFS_COUNTERS_H_
#define IBEMU_SYSFS_COUNTERS_H_

#include "sysfs/tree.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

// Fills `directory` with the counters of port `number` of `device`, which must
// outlive it.  64-bit counters are there if the agent says at this moment that
// it has PortCountersExtended; otherwise data and packets have 32 bits, as in
// Linux.
void AddCounters(Entry& directory, const ViewDevice& device, int number);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_COUNTERS_H_
