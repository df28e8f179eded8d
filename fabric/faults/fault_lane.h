// All that goes wrong on one direction of one link, or with what one node's
// agents answer.
#ifndef IBEMU_FABRIC_FAULTS_FAULT_LANE_H_
#define IBEMU_FABRIC_FAULTS_FAULT_LANE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/faults/fault_stage.h"

namespace ibemu::fabric {

enum class PortId : uint32_t;

// What a fault has done so far.
struct FaultCounts {
  uint64_t packets = 0;  // that came by
  uint64_t lost = 0;
  uint64_t corrupted = 0;
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t delayed = 0;

  bool operator==(const FaultCounts&) const = default;
};

// Where a fault's luck comes from.  The same chance at the same port is the
// same luck.
struct FaultChance {
  std::optional<uint64_t> seed = std::nullopt;  // the fabric's unless given
  std::string_view stream = {};  // sets it apart from others of its port
};

// One fault of one direction of a link.
struct FaultId {
  PortId port;      // through which what it concerns leaves
  uint32_t number;  // no other fault of a link has it
};

// Several faults act in the order in which they were added: what one loses or
// corrupts does not come by the next.  Each has its own luck: what it does to
// the nth packet that it concerns does not depend on the others.  Delays add
// up, and so do duplicates: two faults that always duplicate make three of one.
class FaultLane {
 public:
  // `number`: none that the lane has already.
  void Add(uint32_t number, const FaultStage& stage);
  void Remove(uint32_t number);
  bool empty() const { return members_.empty(); }

  // Requires that `number` was added and not removed.
  const FaultCounts& CountsOf(uint32_t number) const;

  struct Fate {
    bool lost = false;
    bool corrupted = false;
    uint32_t culprit = 0;  // the number of the fault that did either
    uint64_t symbol_errors = 0;
    int copies = 1;
    absl::Time arrival;  // `now` or later; in order, but for reordered ones
  };
  Fate Decide(const Packet& packet, absl::Time now);

 private:
  struct Member {
    uint32_t number;
    FaultStage stage;
    FaultCounts counts;
  };

  std::vector<Member> members_;
  absl::Time last_arrival_ = absl::InfinitePast();
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_FAULT_LANE_H_
