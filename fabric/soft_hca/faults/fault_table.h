// FaultTable: the faults of one kind, by adapter or process.
#ifndef IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_TABLE_H_
#define IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_TABLE_H_

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fabric/faults/fault_place.h"
#include "fabric/soft_hca/faults/fault_window.h"

namespace ibemu::fabric {

// The key of one fault of an adapter or a process, in its table.
struct AdapterFaultId {
  FaultPlace place;
  uint32_t number;
};

// A FaultTable holds the faults of each adapter and each process.  Beside each
// one it keeps what that fault has done so far.
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

  AdapterFaultId Add(FaultPlace place, const Fault& fault) {
    places_[place].push_back({.number = ++last_, .fault = fault, .acts = {}});
    return {.place = place, .number = last_};
  }

  // REQUIRES of both: the fault was added and not removed.
  void Remove(AdapterFaultId fault) {
    const auto place = places_.find(fault.place);
    std::erase_if(place->second, [&](const Member& member) {
      return member.number == fault.number;
    });
    if (place->second.empty()) places_.erase(place);
  }
  const FaultActs& ActsOf(AdapterFaultId fault) const {
    return std::ranges::find(places_.find(fault.place)->second, fault.number,
                             &Member::number)
        ->acts;
  }

  bool empty() const { return places_.empty(); }

  // Calls `look` with each fault of these places, one place after the other, in
  // the order in which the faults were added, until it returns true.
  template <class Look>
  void Find(std::initializer_list<FaultPlace> places, Look look) {
    for (const FaultPlace& place : places) {
      const auto found = places_.find(place);
      if (found == places_.end()) continue;
      for (Member& member : found->second) {
        if (look(member)) return;
      }
    }
  }

 private:
  absl::flat_hash_map<FaultPlace, std::vector<Member>> places_;
  uint32_t last_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_FAULTS_FAULT_TABLE_H_
