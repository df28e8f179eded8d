// The reader of graphs in DOT, Graphviz's language.
#ifndef IBEMU_TOPOLOGY_FORMATS_DOT_READER_H_
#define IBEMU_TOPOLOGY_FORMATS_DOT_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns the subnet whose nodes are those of a graph, and whose cables are its
// edges.  What the text leaves open gets a sensible value: a node with one
// cable is an adapter, one with more a switch, and a cable takes the lowest
// free port.
//
// Errors: InvalidArgument, every fault of the text, one per line; `file` names
// it there.
absl::StatusOr<Topology> ParseDot(std::string_view text, std::string_view file,
                                  Progress progress = NoProgress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_DOT_READER_H_
