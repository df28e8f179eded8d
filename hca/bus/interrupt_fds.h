// The eventfds that signal a function's interrupts.
#ifndef IBEMU_HCA_BUS_INTERRUPT_FDS_H_
#define IBEMU_HCA_BUS_INTERRUPT_FDS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "base/unique_fd.h"

namespace ibemu::hca {

// Returns `count` non-blocking eventfds.
//
// Errors: ResourceExhausted if the process has no more descriptors.
absl::StatusOr<std::vector<UniqueFd>> MakeInterruptFds(int count);

}  // namespace ibemu::hca

#endif  // IBEMU_HCA_BUS_INTERRUPT_FDS_H_
