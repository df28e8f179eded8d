// The directories ports/N/cm_*: what the communication manager of a host has
// counted.
#ifndef IBEMU_SYSFS_CM_COUNTERS_H_
#define IBEMU_SYSFS_CM_COUNTERS_H_

#include "sysfs/tree.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

// Adds cm_tx_msgs, cm_tx_retries, cm_rx_msgs and cm_rx_duplicates to
// `directory`, that of port `number` of `device`, which must outlive it.  Each
// has a file for each message, as drivers/infiniband/core/cm.c has them.
void AddCmCounters(Entry& directory, const View& view, const ViewDevice& device,
                   int number);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_CM_COUNTERS_H_
