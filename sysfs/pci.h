// The PCI function that a device of the view seems to be.
#ifndef IBEMU_SYSFS_PCI_H_
#define IBEMU_SYSFS_PCI_H_

#include <string>

#include "sysfs/profile.h"
#include "sysfs/tree.h"

namespace ibemu::sysfs {

// "1bed:00:03.0", of the view's device 3.
std::string PciAddress(int index);

// "devices/pci1bed:00/1bed:00:03.0"
std::string PciPath(int index);

// Its 256 bytes of configuration space: header, power management and PCI
// Express capabilities.
std::string PciConfig(const ProfileFacts& facts, int index);

// Adds the function's directory, and its links under bus/pci, to `root`.
void AddPciFunction(Entry& root, const ProfileFacts& facts, int index,
                    int cpu_count);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_PCI_H_
