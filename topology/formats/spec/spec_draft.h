// The subnet of a YAML spec while the spec is read.
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

// A node and what the spec knows of it beyond its own properties.
struct SpecNode {
  NodeSpec spec;
  Place at;
  bool has_ports = false;
  int highest_port = 1;  // of its cables
  std::vector<const SpecProfile*> profiles;
};

struct SpecLink {
  Place at;
  size_t nodes[2] = {};  // as SpecDraft::nodes() numbers them
  int ports[2] = {};
  LinkSpec link;                              // its ends aside
  bool has_width = false, has_speed = false;  // this spec says so
};

class SpecDraft {
 public:
  // The answer is good until the next node is added.
  SpecNode& AddNode(NodeSpec spec, Place at);
  void AddLink(const SpecLink& link);

  std::vector<SpecNode>& nodes() { return nodes_; }
  std::vector<SpecLink>& links() { return links_; }

  // By its name, else by its description.  For when all nodes are there.
  std::optional<size_t> Find(const std::string& name);

  // Nodes that say nothing have as many ports as their cables need.
  void CompletePorts();

 private:
  std::vector<SpecNode> nodes_;
  std::vector<SpecLink> links_;
  absl::flat_hash_map<std::string, size_t> by_name_, by_description_;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FORMATS_SPEC_SPEC_DRAFT_H_
