// FaultTable: the faults of one kind, by adapter.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_TABLE_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fabric/soft_hca/faults/fault_window.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// The key of one fault of an adapter, in its table.
struct AdapterFaultId {
  topology::NodeId node;
  uint32_t number;
};

// A FaultTable holds faults by the node whose adapter they are of, each with
// what it has done so far.
template <class Fault>
class FaultTable {
 public:
  struct Member {
    uint32_t number;
    Fault fault;
    FaultActs acts;
  };

  FaultTable() = default;
  FaultTable(const FaultTable&) = delete;
  FaultTable& operator=(const FaultTable&) = delete;

  AdapterFaultId Add(topology::NodeId node, const Fault& fault) {
    nodes_[node].push_back({.number = ++last_, .fault = fault, .acts = {}});
    return {.node = node, .number = last_};
  }

  // REQUIRES of both: the fault was added and not removed.
  void Remove(AdapterFaultId fault) {
    const auto node = nodes_.find(fault.node);
    std::erase_if(node->second, [&](const Member& member) {
      return member.number == fault.number;
    });
    if (node->second.empty()) nodes_.erase(node);
  }
  const FaultActs& ActsOf(AdapterFaultId fault) const {
    return std::ranges::find(nodes_.find(fault.node)->second, fault.number,
                             &Member::number)
        ->acts;
  }

  bool empty() const { return nodes_.empty(); }
  // Returns the faults of an adapter, in the order in which they were added.
  std::span<Member> Of(topology::NodeId node) {
    const auto found = nodes_.find(node);
    return found == nodes_.end() ? std::span<Member>() : found->second;
  }

 private:
  absl::flat_hash_map<topology::NodeId, std::vector<Member>> nodes_;
  uint32_t last_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_TABLE_H_
