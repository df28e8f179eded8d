// The PCI function that a device of a view appears to be.
#ifndef IBEMU_SYSFS_PCI_H_
#define IBEMU_SYSFS_PCI_H_

#include <string>
#include <vector>

#include "sysfs/profile.h"
#include "sysfs/tree.h"

namespace ibemu::sysfs {

// Returns the address of the device in `slot`: "1bed:00:03.0" in slot 3.
std::string PciAddress(int slot);

// Returns its path: "devices/pci1bed:00/1bed:00:03.0".
std::string PciPath(int slot);

// Returns its 256 bytes of configuration space: header, power management and
// PCI Express capabilities.
std::string PciConfig(const ProfileFacts& facts, int slot);

// Add the function's directory, and its links under bus/pci, to `root`, or
// remove them.
void AddPciFunction(Entry& root, const ProfileFacts& facts, int slot,
                    int cpu_count);
void RemovePciFunction(Entry& root, const ProfileFacts& facts, int slot);

// Returns the directories that these two change: the bus and its driver.
std::vector<std::string> PciDirectories(const ProfileFacts& facts);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_PCI_H_
