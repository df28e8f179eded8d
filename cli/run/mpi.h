// MpiVariables(): the settings by which MPI uses a run's adapters and hosts.
#ifndef IBEMU_CLI_RUN_MPI_H_
#define IBEMU_CLI_RUN_MPI_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "launch/child.h"

namespace ibemu::cli {

// Returns the variables, but for those that the user has set, by which
// - Open MPI sends through UCX whenever a run has an adapter that does verbs.
//   Its own defaults do that for adapters of mlx5 alone, and Debian's
//   (openmpi-mca-params.conf) for none: ranks would talk by TCP unnoticed;
// - the launchers of Open MPI and MPICH start ranks on other hosts of the
//   fabric: by `ssh`, a program that takes ssh's command line.  Empty: by the
//   machine's own.
// Programs other than MPI's read none of them.  `is_set`: whether the user has
// set a variable; one for MPICH's launcher keeps all of that launcher's.
launch::Variables MpiVariables(
    const std::string& ssh, absl::FunctionRef<bool(const char* name)> is_set);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_MPI_H_
