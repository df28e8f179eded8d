// The topology generators that `--topology` knows by name.  Each reads its
// parameters and returns the topology, or InvalidArgument with the first error.
#ifndef IBEMU_TOPOLOGY_GENERATORS_H_
#define IBEMU_TOPOLOGY_GENERATORS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/generator_spec.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns `: did you mean "fat-tree"?`, or an empty string.
std::string SimilarGenerator(std::string_view name);

// Two hosts and one cable.
absl::StatusOr<Topology> GenerateBackToBack(GeneratorSpec& spec,
                                            Progress progress);

// `hosts` hosts on ports 1..hosts of one switch, which has `ports` ports.
absl::StatusOr<Topology> GenerateSingleSwitch(GeneratorSpec& spec,
                                              Progress progress);

// Leaves and spines (levels=2), or pods of leaves and spines under a layer of
// cores (levels=3), all of `radix` ports and with as many uplinks as hosts:
// Al-Fares, Loukissas, Vahdat, "A scalable, commodity data center network
// architecture", 2008.  With `hosts`, the smallest such tree that holds them.
absl::StatusOr<Topology> GenerateFatTree(GeneratorSpec& spec,
                                         Progress progress);

// Switches in a ring, grid or cube that is closed in each dimension (a torus),
// with `hosts` hosts each.  Each direction has its port, the same on all
// switches: 1 to +x, 2 to -x, 3 to +y, 4 to -y, 5 to +z, 6 to -z, then the
// hosts.  If a dimension has only two switches, they have one cable between
// them.
absl::StatusOr<Topology> GenerateTorus(GeneratorSpec& spec, Progress progress);

// g groups of a switches; each switch has p hosts, a cable to each other
// switch of its group and h cables to other groups: Kim, Dally, Scott, Abts,
// "Technology-driven, highly-scalable dragonfly topology", 2008.  Defaults are
// the balanced ones: p = h = a / 2, g = a * h + 1.
absl::StatusOr<Topology> GenerateDragonfly(GeneratorSpec& spec,
                                           Progress progress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_GENERATORS_H_
