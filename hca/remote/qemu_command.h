// The command line of a QEMU that ibemu's device model is plugged into.
#ifndef IBEMU_HCA_REMOTE_QEMU_COMMAND_H_
#define IBEMU_HCA_REMOTE_QEMU_COMMAND_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ibemu::hca::remote {

// A complete command line, and what it says of the machine.
struct QemuCommand {
  std::vector<std::string> arguments;  // the program first
  bool has_iommu = false;              // the machine has an intel-iommu
};

// The device's place in the machine: bus 0, device 16, function 0.
inline constexpr uint8_t kQemuDevfn = 0x10 << 3;

// Adds to `command` (program and arguments as a user types them) what QEMU 7.2
// needs: the device itself and the test protocol, whose ends QEMU inherits as
// the descriptors `device_socket` and `qtest_socket`, and memory that can be
// shared, as large as -m says.
//
// Errors: InvalidArgument (EINVAL) for a machine that can't have the device;
// the message names the argument that is in the way, and the reason.
absl::StatusOr<QemuCommand> PlugInto(std::vector<std::string> command,
                                     int device_socket, int qtest_socket);

}  // namespace ibemu::hca::remote

#endif  // IBEMU_HCA_REMOTE_QEMU_COMMAND_H_
