// The reader of containerlab's topology files (https://containerlab.dev).
#ifndef IBEMU_TOPOLOGY_FORMATS_CONTAINERLAB_READER_H_
#define IBEMU_TOPOLOGY_FORMATS_CONTAINERLAB_READER_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns the subnet whose nodes and cables are those of a lab of containerlab.
// A node of the kind "linux" is an adapter, any other a switch; the label
// "ibemu.type" says what else it is.  A port has the number at the end of its
// interface's name; where those of a node are no ports, or the same, its ports
// are numbered in the order of the text.  Links that leave the lab are left
// out, and so are keys that concern containers.
//
// Errors: InvalidArgument, every fault of the text, one per line; `file` names
// it there.
absl::StatusOr<Topology> ParseContainerlab(std::string_view text,
                                           std::string_view file,
                                           Progress progress = NoProgress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_CONTAINERLAB_READER_H_
