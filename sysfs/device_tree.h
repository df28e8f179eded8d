// One device of a view, in all the classes that know it.
#ifndef IBEMU_SYSFS_DEVICE_TREE_H_
#define IBEMU_SYSFS_DEVICE_TREE_H_

#include "sysfs/tree.h"
#include "sysfs/view.h"

namespace ibemu::sysfs {

// Adds device `index` of `view`: its PCI function, its directories below that
// and the links of the classes.
void AddDevice(Entry& root, const View& view, int index);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_DEVICE_TREE_H_
