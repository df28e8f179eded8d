// One device of a view, in all the classes that know it.
#ifndef IBEMU_SYSFS_DEVICE_TREE_H_
#define IBEMU_SYSFS_DEVICE_TREE_H_

#include <string>
#include <vector>

#include "sysfs/profile.h"

namespace ibemu::sysfs {

// Where devices come and go.
std::vector<std::string> DeviceDirectories(const ProfileFacts& facts);

}  // namespace ibemu::sysfs

#endif  // IBEMU_SYSFS_DEVICE_TREE_H_
