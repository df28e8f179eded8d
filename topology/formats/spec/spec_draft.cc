#include "topology/formats/spec/spec_draft.h"

#include <algorithm>
#include <utility>

namespace ibemu::topology {

SpecNode& SpecDraft::AddNode(NodeSpec spec, Place at) {
  by_name_.try_emplace(spec.name, nodes_.size());
  SpecNode& node = nodes_.emplace_back();
  node.spec = std::move(spec);
  node.at = at;
  return node;
}

void SpecDraft::AddLink(const SpecLink& link) {
  for (int i = 0; i < 2; ++i) {
    int& highest = nodes_[link.nodes[i]].highest_port;
    highest = std::max(highest, link.ports[i]);
  }
  links_.push_back(link);
}

std::optional<size_t> SpecDraft::Find(const std::string& name) {
  const auto found = by_name_.find(name);
  if (found != by_name_.end()) return found->second;
  if (by_description_.empty()) {
    for (size_t i = 0; i < nodes_.size(); ++i) {
      by_description_.try_emplace(nodes_[i].spec.description, i);
    }
  }
  const auto described = by_description_.find(name);
  if (described == by_description_.end()) return std::nullopt;
  return described->second;
}

void SpecDraft::CompletePorts() {
  for (SpecNode& node : nodes_) {
    if (!node.has_ports) {
      node.spec.port_count = std::min(node.highest_port, kMaxPorts);
    }
  }
}

}  // namespace ibemu::topology
