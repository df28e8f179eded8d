// The directory ports/N of a device.
#ifndef IBEMU_SYSFS_PORT_TREE_H_
#define IBEMU_SYSFS_PORT_TREE_H_

#include "sysfs/tree.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

// Fills `directory` with the files of port `number` of `device` of `view`; the
// device must outlive it.
void AddPort(Entry& directory, const View& view, const ViewDevice& device,
             int number);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_PORT_TREE_H_
