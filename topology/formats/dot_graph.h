// DotGraph: a graph in Graphviz's language, as parsed from a text.
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

// A node with its attributes: those given to it, and the defaults where it was
// first mentioned.
struct DotNode {
  std::string name;
  Place at;
  DotAttributes attributes;
};

// An edge, directed or not.
struct DotEdge {
  struct End {
    size_t node = 0;   // index into nodes
    std::string port;  // "3" of "a:3"
  };
  Place at;
  End tail, head;
  DotAttributes attributes;
};

// A DotGraph knows no subgraphs: their nodes and edges are among the others.
struct DotGraph {
  std::vector<DotNode> nodes;  // in the order of first mention
  std::vector<DotEdge> edges;
};

// Parses one graph.  Adds a fault to `faults` and stops there, as the rest of
// the text can't be understood after it.
DotGraph ParseDotGraph(std::string_view text, int file, FaultList& faults);

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_DOT_GRAPH_H_
