// An operation that is tried in a child process.
#ifndef IBEMU_LAUNCH_IN_CHILD_H_
#define IBEMU_LAUNCH_IN_CHILD_H_

#include <functional>

#include "absl/status/status.h"

namespace ibemu::launch {

// Runs `trial` in a child process, so that its side effects end with it.
//
// Errors: FailedPrecondition with the trial's message.
absl::Status InChild(const std::function<absl::Status()>& trial);

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_IN_CHILD_H_
