// FaultList: the errors found in the text of a topology, reported together.
#ifndef IBEMU_TOPOLOGY_FAULT_LIST_H_
#define IBEMU_TOPOLOGY_FAULT_LIST_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace ibemu::topology {

// A line of a file.
struct Place {
  int file = 0;  // index returned by FaultList::AddFile()
  int line = 0;  // from 1

  bool operator==(const Place&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): false alarm, there is no null in it.
  auto operator<=>(const Place&) const = default;
};

// A list of errors ("faults"), each with its place.
class FaultList {
 public:
  // The texts of further faults are not kept, only counted.
  static constexpr size_t kMaxTold = 100;

  int AddFile(std::string_view name);

  // Adds a fault.  `what` names the thing and the rule it breaks.  The same
  // text at the same place is added only once.
  void Add(Place at, std::string what);

  // Returns false once further texts would be discarded, so that the caller
  // need not make them.
  bool Listens() const { return faults_.size() < kMaxTold; }

  // Returns a reference to the place `there` for a reader of a fault at `at`:
  // "line 12", or "spine.net:12" if that is in another file.
  std::string Refer(Place at, Place there) const;

  bool empty() const { return faults_.empty(); }

  // Returns OK if there are no faults, else InvalidArgument with the faults in
  // the order of the text, one per line, each with a prefix such as
  // "lab.net:14: ".
  absl::Status ToStatus() const;

 private:
  struct Fault {
    Place at;
    std::string what;

    bool operator==(const Fault&) const = default;
  };

  std::vector<std::string> files_;
  std::vector<Fault> faults_;
  size_t untold_ = 0;
};

}  // namespace ibemu::topology

#endif  // IBEMU_TOPOLOGY_FAULT_LIST_H_
