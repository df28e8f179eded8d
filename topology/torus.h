// The generator of tori.
#ifndef IBEMU_TOPOLOGY_TORUS_H_
#define IBEMU_TOPOLOGY_TORUS_H_

#include "absl/status/statusor.h"
#include "topology/generator_spec.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Switches in a ring, grid or cube that is closed in each dimension (a torus),
// with `hosts` hosts each.  Each direction has its port, the same on all
// switches: 1 to +x, 2 to -x, 3 to +y, 4 to -y, 5 to +z, 6 to -z, then the
// hosts.  If a dimension has only two switches, they have one cable between
// them.
//
// Errors: InvalidArgument, the first error of `spec`.
absl::StatusOr<Topology> GenerateTorus(GeneratorSpec& spec, Progress progress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_TORUS_H_
