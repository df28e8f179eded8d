// The addresses of a draft.
#ifndef IBEMU_TOPOLOGY_DRAFT_ADDRESSES_H_
#define IBEMU_TOPOLOGY_DRAFT_ADDRESSES_H_

#include "topology/fault_list.h"
#include "topology/topology.h"
#include "topology/topology_draft.h"

namespace ibemu::topology {

// Gives the ports of `topology` the addresses of `draft`, in the order of nodes
// and ports.  What is no address, or may not be a port's, or is another's, and
// ports that can't have any, are added to `faults`.
void ResolveAddresses(const Draft& draft, FaultList& faults,
                      Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_DRAFT_ADDRESSES_H_
