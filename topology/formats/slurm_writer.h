// The writer of Slurm's topology.conf.
#ifndef IBEMU_TOPOLOGY_FORMATS_SLURM_WRITER_H_
#define IBEMU_TOPOLOGY_FORMATS_SLURM_WRITER_H_

#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// Returns a topology.conf for Slurm's plugin topology/tree, which lists each
// switch with the nodes or the switches below it.
std::string FormatSlurm(const Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SLURM_WRITER_H_
