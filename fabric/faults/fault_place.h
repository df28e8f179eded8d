// FaultPlace: the adapter or the process whose queue pairs, calls and events a
// fault concerns.
#ifndef IBEMU_FABRIC_FAULTS_FAULT_PLACE_H_
#define IBEMU_FABRIC_FAULTS_FAULT_PLACE_H_

#include <cstdint>
#include <utility>

#include "topology/topology.h"

namespace ibemu::fabric {

// A FaultPlace is the adapter of a node, with all that programs have there, or
// a process, with all that it has on any adapter.
class FaultPlace {
 public:
  static FaultPlace OfNode(topology::NodeId node) {
    return {false, static_cast<uint64_t>(node)};
  }
  // `process`: see verbs::Memory::process().
  static FaultPlace OfProcess(uint64_t process) { return {true, process}; }

  bool is_process() const { return is_process_; }
  // REQUIRES: it is that of a node.
  topology::NodeId node() const {
    return static_cast<topology::NodeId>(number_);
  }

  bool operator==(const FaultPlace&) const = default;
  template <class Hash>
  friend Hash AbslHashValue(Hash hash, const FaultPlace& place) {
    return Hash::combine(std::move(hash), place.is_process_, place.number_);
  }

 private:
  FaultPlace(bool is_process, uint64_t number)
      : is_process_(is_process), number_(number) {}

  bool is_process_;
  uint64_t number_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_FAULT_PLACE_H_
