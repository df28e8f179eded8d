// The device files that an ibemud shows to this machine.
#ifndef IBEMU_CLI_DEVICE_PLUGIN_SHOWN_DEVICES_H_
#define IBEMU_CLI_DEVICE_PLUGIN_SHOWN_DEVICES_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ibemu::cli {

// Returns the names in /dev/infiniband ("umad0") of what the daemon shows now
// that serves the file system at `mount`, as launch::kSystemMount.  A real
// adapter's are not among them.
//
// Errors: NotFound, nobody shows any; Unavailable, that daemon has ended.
absl::StatusOr<std::vector<std::string>> ShownDevices(const std::string& mount);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_DEVICE_PLUGIN_SHOWN_DEVICES_H_
