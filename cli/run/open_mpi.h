// OpenMpiVariables(): the settings by which Open MPI takes a run's adapters.
#ifndef IBEMU_CLI_RUN_OPEN_MPI_H_
#define IBEMU_CLI_RUN_OPEN_MPI_H_

#include "launch/child.h"

namespace ibemu::cli {

// Returns the variables by which Open MPI sends through UCX whenever a run has
// an adapter that does verbs, as it does by itself where a driver is mlx5.  By
// its own defaults it takes no other driver's adapters, and by Debian's
// (openmpi-mca-params.conf) not even those; then ranks talk by TCP, and nothing
// says so.  Programs other than MPI's read none of them.
launch::Variables OpenMpiVariables();

}  // namespace ibemu::cli

#endif  // IBEMU_CLI_RUN_OPEN_MPI_H_
