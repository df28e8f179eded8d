// The reader of specs, in YAML or JSON.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_READER_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// The deepest chain of specs that include specs.
inline constexpr int kMaxSpecIncludes = 9;

// Returns the subnet of a spec, which starts from a generator or another file,
// and adds nodes and cables, profiles of devices, and rules for cables.
// `include` is relative to `file`; `depth` is the number of files that include
// this one.
//
// Errors: InvalidArgument, every fault of the text, one per line; `file` names
// it there.
absl::StatusOr<Topology> ParseSpec(std::string_view text, std::string_view file,
                                   Progress progress = NoProgress,
                                   int depth = 0);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_READER_H_
