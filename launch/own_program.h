// Other programs of ours, as processes of their own.
#ifndef IBEMU_LAUNCH_OWN_PROGRAM_H_
#define IBEMU_LAUNCH_OWN_PROGRAM_H_

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::launch {

// The path of the program `name`: beside this one, as in a build tree, or in
// `directory`, where it is installed.
std::string OwnProgram(std::string_view name, std::string_view directory);

// Executes `arguments`, of which the first is the program's path, in a child
// process with a session of its own, for which no signal is blocked.  Its
// standard input and output are /dev/null, and standard error is ours; the
// descriptor `line`, which is none of these, stays open there under the same
// number.  Returns the child's pidfd.
//
// Errors: errno's of posix_spawn(), with the path, and of pidfd_open().
absl::StatusOr<UniqueFd> StartOwnProgram(std::vector<std::string> arguments,
                                         int line);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_OWN_PROGRAM_H_
