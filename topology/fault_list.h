// All faults of a topology's text, told together.
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
  int file = 0;  // what FaultList::AddFile() returned
  int line = 0;  // from 1

  bool operator==(const Place&) const = default;
  // NOLINTNEXTLINE(modernize-use-nullptr): there is none in it.
  auto operator<=>(const Place&) const = default;
};

class FaultList {
 public:
  // Text beyond this many faults is not kept, only counted.
  static constexpr size_t kMaxTold = 100;

  int AddFile(std::string_view name);

  // `what` names the thing and the rule it breaks.  The same at the same place
  // is told once.
  void Add(Place at, std::string what);

  // False once further texts would be thrown away: don't make them.
  bool Listens() const { return faults_.size() < kMaxTold; }

  // `there` for a reader of a fault `at`: "line 12", or "spine.net:12" when
  // that is another file.
  std::string Refer(Place at, Place there) const;

  bool empty() const { return faults_.empty(); }

  // InvalidArgument with the faults in the order of the text, one a line, each
  // behind its "lab.net:14: "; OK if there are none.
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
