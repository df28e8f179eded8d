// The writer of graphs in DOT, Graphviz's language.
#ifndef IBEMU_TOPOLOGY_FORMATS_DOT_WRITER_H_
#define IBEMU_TOPOLOGY_FORMATS_DOT_WRITER_H_

#include <string>

#include "topology/topology.h"

namespace ibemu::topology {

// Returns a graph of the nodes and cables, in the order of `topology`, from
// which ParseDot() makes the same subnet, and Graphviz a drawing.  Of the
// speeds of a link it names the best.
std::string FormatDot(const Topology& topology);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_DOT_WRITER_H_
