// The generator of fat trees.
#ifndef IBEMU_TOPOLOGY_FAT_TREE_H_
#define IBEMU_TOPOLOGY_FAT_TREE_H_

#include "absl/status/statusor.h"
#include "topology/generator_spec.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Leaves and spines (levels=2), or pods of leaves and spines under a layer of
// cores (levels=3), all of `radix` ports and with as many uplinks as hosts:
// Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network
// architecture", 2008.  With `hosts`, the smallest such tree that holds them.
//
// Errors: InvalidArgument, the first error of `spec`.
absl::StatusOr<Topology> GenerateFatTree(GeneratorSpec& spec,
                                         Progress progress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FAT_TREE_H_
