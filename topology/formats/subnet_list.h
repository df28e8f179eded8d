// The reader of ibdm's lists of cables.
#ifndef IBEMU_TOPOLOGY_FORMATS_SUBNET_LIST_H_
#define IBEMU_TOPOLOGY_FORMATS_SUBNET_LIST_H_

#include <string_view>

#include "absl/status/statusor.h"
#include "topology/topology.h"

namespace ibemu::topology {

// Returns the subnet of a list that OpenSM (opensm-subnet.lst) or ibdiagnet
// (ibdiagnet.lst) wrote: one cable per line, with both ends in braces.
//
// Errors: InvalidArgument, every fault of the text, one per line; `file` names
// it there.
absl::StatusOr<Topology> ParseSubnetList(std::string_view text,
                                         std::string_view file,
                                         Progress progress = NoProgress);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SUBNET_LIST_H_
