// The writer of ibnetdiscover's output format.
#ifndef IBEMU_TOPOLOGY_IBNETDISCOVER_WRITER_H_
#define IBEMU_TOPOLOGY_IBNETDISCOVER_WRITER_H_

#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// Returns the text that ibnetdiscover (of rdma-core 44) would print before any
// SM has set LIDs: switches, then CAs, then routers, each in the order of
// `nodes`.  Of the speeds of a link it names the best.
std::string FormatIbnetdiscover(const Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_IBNETDISCOVER_WRITER_H_
