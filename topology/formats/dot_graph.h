// A graph in Graphviz's language, as a text tells it.
#ifndef IBEMU_TOPOLOGY_FORMATS_DOT_GRAPH_H_
#define IBEMU_TOPOLOGY_FORMATS_DOT_GRAPH_H_

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "topology/fault_list.h"

namespace ibemu::topology {

using DotAttributes = std::map<std::string, std::string, std::less<>>;

struct DotNode {
  std::string name;
  Place at;
  DotAttributes attributes;
};

// Directed or not.
struct DotEdge {
  struct End {
    size_t node = 0;   // index into nodes
    std::string port;  // "a:3" names 3
  };
  Place at;
  End tail, head;
  DotAttributes attributes;
};

struct DotGraph {
  std::vector<DotNode> nodes;  // in the order in which they are named
  std::vector<DotEdge> edges;
};

// Reads one graph.  After a fault, which goes to `faults`, the rest of the
// text makes no sense any more.
DotGraph ParseDotGraph(std::string_view text, int file, FaultList& faults);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_DOT_GRAPH_H_
