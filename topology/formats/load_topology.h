// The ways to a Topology for a caller that has a SPEC of the command line, or a
// text in any of the formats.
#ifndef IBEMU_TOPOLOGY_FORMATS_LOAD_TOPOLOGY_H_
#define IBEMU_TOPOLOGY_FORMATS_LOAD_TOPOLOGY_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "topology/generators.h"
#include "topology/topology.h"

namespace ibemu::topology {

// SPEC of the command line: a generator such as "fat-tree:radix=36,levels=2",
// or a file ("-" is standard input) in one of the formats of
// topology/formats/formats.h, which its name or its content tells.  A file that
// is named like a generator is written "./fat-tree".
//
// Errors: InvalidArgument, NotFound or PermissionDenied; the message holds
// every fault of the file, one a line, as
// `lab.net:14: port 9 of "sw1" does not exist: it has ports 1 to 8`.
absl::StatusOr<Topology> LoadTopology(std::string_view spec,
                                      Progress progress = NoProgress);

// A file's text; `file` names it in messages and `include` lines are relative
// to it.  Errors: as above.
absl::StatusOr<Topology> ParseTopology(std::string_view text,
                                       std::string_view file,
                                       Progress progress = NoProgress);

// A file in the format that DetectFormat() finds.  `depth`: how many files
// include it.  Errors: those of ReadFile(), too.
absl::StatusOr<Topology> ReadTopologyFile(const std::string& path,
                                          Progress progress, int depth);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_LOAD_TOPOLOGY_H_
