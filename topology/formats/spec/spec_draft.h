// SpecDraft: the subnet of a YAML spec while the spec is read.
#ifndef IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_DRAFT_H_
#define IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_DRAFT_H_

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "topology/fault_list.h"
#include "topology/topology.h"

namespace ibemu::topology {

struct SpecProfile;

// A node, and what the spec says about it beyond its own properties.
struct SpecNode {
  NodeSpec spec;
  Place at;
  bool has_ports = false;
  int highest_port = 1;  // the highest with a cable
  std::vector<const SpecProfile*> profiles;
};

// A cable.  Its ends are in `nodes` and `ports`, and not in `link`.
struct SpecLink {
  Place at;
  size_t nodes[2] = {};  // indexes into SpecDraft::nodes()
  int ports[2] = {};
  LinkSpec link;
  bool has_width = false, has_speed = false;  // set by this spec
};

// The nodes and cables of a spec.
class SpecDraft {
 public:
  // Returns a reference that is valid until the next node is added.
  SpecNode& AddNode(NodeSpec spec, Place at);
  void AddLink(const SpecLink& link);

  std::vector<SpecNode>& nodes() { return nodes_; }
  std::vector<SpecLink>& links() { return links_; }

  // Finds a node by its name, or else by its description.  REQUIRES: all nodes
  // have been added.
  std::optional<size_t> Find(const std::string& name);

  // Gives nodes without a number of ports as many as their cables need.
  void CompletePorts();

 private:
  std::vector<SpecNode> nodes_;
  std::vector<SpecLink> links_;
  absl::flat_hash_map<std::string, size_t> by_name_, by_description_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_DRAFT_H_
