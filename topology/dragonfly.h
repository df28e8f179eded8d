// The generator of dragonflies.
#ifndef IBEMU_TOPOLOGY_DRAGONFLY_H_
#define IBEMU_TOPOLOGY_DRAGONFLY_H_

#include "absl/status/statusor.h"
#include "topology/generator_spec.h"
#include "topology/topology.h"

namespace ibemu::topology {

// g groups of a switches; each switch has p hosts, a cable to each other
// switch of its group and h cables to other groups: Kim, Dally, Scott, Abts,
// "Technology-driven, highly-scalable dragonfly topology", 2008.  Defaults are
// the balanced ones: p = h = a / 2, g = a * h + 1.
//
// Errors: InvalidArgument, the first error of `spec`.
absl::StatusOr<Topology> GenerateDragonfly(GeneratorSpec& spec,
                                           Progress progress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_DRAGONFLY_H_
