// Reads whole files.
#ifndef IBEMU_TOPOLOGY_READ_FILE_H_
#define IBEMU_TOPOLOGY_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace ibemu::topology {

// "-" is standard input.
//
// Errors: NotFound, PermissionDenied, InvalidArgument (a directory) or what
// else the system says, as `lab.net: no such file`.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_READ_FILE_H_
