// ReadFile(): the contents of a whole file.
#ifndef IBEMU_TOPOLOGY_READ_FILE_H_
#define IBEMU_TOPOLOGY_READ_FILE_H_

#include <string>

#include "absl/status/statusor.h"

namespace ibemu::topology {

// Returns the content of a file.  "-" is standard input.
//
// Errors: NotFound, PermissionDenied, InvalidArgument (a directory), or the
// status for another system error; the message is like `lab.net: no such file`.
absl::StatusOr<std::string> ReadFile(const std::string& path);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_READ_FILE_H_
