// RunLab: the processes of `ibemu up`.
#ifndef IBEMU_CLI_LAB_LAB_H_
#define IBEMU_CLI_LAB_LAB_H_

#include <functional>

#include "absl/status/statusor.h"
#include "cli/lab/lab_output.h"
#include "cli/lab/lab_plan.h"

namespace ibemu::cli {

// The name (comm) of the process of a lab, by which `ibemu down` finds it.
inline constexpr char kLabProcessName[] = "ibemu-up";

// Starts the fabric of a lab and its programs, and ends them when the commands
// have ended, when one has failed, at plan.timeout, and at SIGINT, SIGTERM and
// SIGHUP: first with SIGTERM, 5 s later, or at the second such signal, with
// SIGKILL.  Calls `up` once, when LabState::up().  Returns the wait status that
// the lab is to end with.  To be called by a process with one thread that has
// no other children.
//
// Errors: of the fabric, which did not come up or can't be joined; of hosts
// that it does not have, all of them.  No program was started then.
absl::StatusOr<int> RunLab(const LabPlan& plan, LabOutput& output,
                           const std::function<void()>& up);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_LAB_LAB_H_
