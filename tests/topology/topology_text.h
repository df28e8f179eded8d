// A topology in full, as the golden files of this folder have it.
#ifndef IBEMU_TESTS_TOPOLOGY_TOPOLOGY_TEXT_H_
#define IBEMU_TESTS_TOPOLOGY_TOPOLOGY_TEXT_H_

#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// Returns a line for each node, then one for each link, in the order of
// `topology`:
//
//     2: switch sw1, 36 ports, guid 0x200, description "leaf 1"
//     8: ca h1, 1 port, guid 0x100, port_guids 0x111
//     sw1/3 - h1/1 4xHDR, length 5, down
//
// A node begins with its line in the file, if it has one.  What is not there is
// as ever: a node is described by its name, and has the vendor and device IDs
// of generated ones; port 7 of an adapter has the node's GUID plus 7, and port
// 0 of a switch the node's GUID; all else is zero or empty.  A rate stands for
// the widths and speeds that ParseLinkRate() makes of it, else the masks are
// told as well.
std::string TopologyText(const Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TESTS_TOPOLOGY_TOPOLOGY_TEXT_H_
