// The directories of one device of a view, in all classes that show it.
#ifndef IBEMU_SYSFS_DEVICE_TREE_H_
#define IBEMU_SYSFS_DEVICE_TREE_H_

#include <string>
#include <vector>

#include "sysfs/profile.h"

namespace ibemu::sysfs {

// Returns the paths of the directories in which devices come and go.
std::vector<std::string> DeviceDirectories(const ProfileFacts& facts);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_DEVICE_TREE_H_
