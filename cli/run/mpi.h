// MpiVariables(): the settings by which MPI uses a run's adapters and hosts.
#ifndef IBEMU_CLI_RUN_MPI_H_
#define IBEMU_CLI_RUN_MPI_H_

#include <string>

#include "absl/functional/function_ref.h"
#include "launch/child.h"

namespace ibemu::cli {

// Returns the variables by which
// - Open MPI sends through UCX whenever a run has an adapter that does verbs,
// as
//   it does by itself where a driver is mlx5.  By its own defaults it takes no
//   other driver's adapters, and by Debian's (openmpi-mca-params.conf) not even
//   those; then ranks talk by TCP, and nothing says so;
// - the launchers of Open MPI and MPICH start ranks on other hosts of the
//   fabric: by `ssh`, a program that takes ssh's command line.  Empty: by the
//   machine's own.
// Of those that say the same, the ones for which `is_set` returns true stay as
// the user has them.  Programs other than MPI's read none of them.
launch::Variables MpiVariables(
    const std::string& ssh, absl::FunctionRef<bool(const char* name)> is_set);

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_MPI_H_
