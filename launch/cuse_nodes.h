// Device nodes of CUSE devices, as the kernel and udev treat them.  Names are
// relative to /dev: "infiniband/umad0".
#ifndef IBEMU_LAUNCH_CUSE_NODES_H_
#define IBEMU_LAUNCH_CUSE_NODES_H_

#include <string>

#include "absl/status/status.h"
#include "sysfs/view.h"

namespace ibemu::launch {

// Returns the number that the kernel gave to the existing device `name`.
sysfs::DeviceNumber NumberOf(const std::string& name);

// Returns true if there is a node `name`, whoever's it is.
bool HasNode(const std::string& name);

// Returns the reason why the kernel did not make the device, which the kernel
// itself does not tell.  The status is always AlreadyExists.
absl::Status WhyRefused(const std::string& name, int major_number);

// HideNode() puts a device's node aside, and ShowNode() puts it back; both tell
// udev as the kernel would.  A CUSE device exists until its connection ends,
// which also ends its open files.  So a device that is pulled out while it is
// open keeps its connection, and only its node is hidden.  It is not removed,
// because devtmpfs would not make it again.
absl::Status HideNode(const std::string& name);
absl::Status ShowNode(const std::string& name);

// Removes the hidden node of a device that ends.
void RemoveHiddenNode(const std::string& name);

// Removes the hidden nodes that a killed daemon left.
void RemoveHiddenNodes();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_CUSE_NODES_H_
