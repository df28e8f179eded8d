// The reader of ibdm's .topo files.
#ifndef IBEMU_TOPOLOGY_FORMATS_IBDM_TOPOLOGY_H_
#define IBEMU_TOPOLOGY_FORMATS_IBDM_TOPOLOGY_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "topology/formats/system_library.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns the subnet of a .topo file, which lists systems by name and the
// cables between their front panels.  `systems` has the definitions of the
// switch systems and adapters that the text names.
//
// Errors: InvalidArgument, every fault of the text, one per line; `file` names
// it there.
absl::StatusOr<Topology> ParseIbdmTopology(std::string_view text,
                                           std::string_view file,
                                           SystemLibrary& systems,
                                           Progress progress = NoProgress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_IBDM_TOPOLOGY_H_
