// The topology generators, which `--topology` knows by name.
#ifndef IBEMU_TOPOLOGY_GENERATORS_H_
#define IBEMU_TOPOLOGY_GENERATORS_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns true if the part of `spec` before the first colon names a generator.
bool IsGenerator(std::string_view spec);

// Returns the topology that a spec such as "fat-tree:radix=36,levels=2"
// describes.  The generators and their parameters: ibemu-topology(5).
//
// Errors: InvalidArgument, the first error of `spec`: an unknown generator or
// parameter, a value out of range, or a subnet of more than kMaxGeneratedNodes.
absl::StatusOr<Topology> GenerateTopology(std::string_view spec,
                                          Progress progress = NoProgress);

// Returns `: did you mean "fat-tree"?`, or an empty string.
std::string SimilarGenerator(std::string_view name);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_GENERATORS_H_
