// What the kernel and udev make of a CUSE device.  Names are those below /dev:
// "infiniband/umad0".
#ifndef IBEMU_LAUNCH_CUSE_NODES_H_
#define IBEMU_LAUNCH_CUSE_NODES_H_

#include <string>

#include "absl/status/status.h"
#include "sysfs/view.h"

namespace ibemu::launch {

// What the kernel gave the device `name`, which is there.
sysfs::DeviceNumber NumberOf(const std::string& name);

// Why it did not make the device, which it does not say itself.  AlreadyExists.
absl::Status WhyRefused(const std::string& name, int major_number);

// A CUSE device is there until its connection ends, and with the connection
// end the open files.  So its node is put aside meanwhile; devtmpfs would not
// make it again.  udev is told as the kernel tells it.
absl::Status HideNode(const std::string& name);
absl::Status ShowNode(const std::string& name);

// Of a device that is hidden and ends now.
void RemoveHiddenNode(const std::string& name);

// What a killed daemon left.
void RemoveHiddenNodes();

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_CUSE_NODES_H_
