// FaultLane: the faults of one direction of one link, or of the answers of one
// node's agents.
#ifndef IBEMU_FABRIC_FAULTS_FAULT_LANE_H_
#define IBEMU_FABRIC_FAULTS_FAULT_LANE_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "fabric/faults/fault_stage.h"

namespace ibemu::fabric {

enum class PortId : uint32_t;

// The effects of one fault so far.
struct FaultCounts {
  uint64_t packets = 0;  // that reached the fault
  uint64_t lost = 0;
  uint64_t corrupted = 0;
  uint64_t duplicated = 0;
  uint64_t reordered = 0;
  uint64_t delayed = 0;

  bool operator==(const FaultCounts&) const = default;
};

// The random stream of a fault.  The same seed and stream at the same port give
// the same random decisions.
struct FaultChance {
  std::optional<uint64_t> seed = std::nullopt;  // default: the fabric's
  std::string_view stream = {};  // tells it from the port's other faults
};

// The key of one fault of one direction of a link.
struct FaultId {
  PortId port;      // the port through which the packets leave
  uint32_t number;  // unique among the link faults
};

// The faults of one direction, in the order in which they were added: a packet
// that one of them loses or corrupts does not reach the next.  Each has its own
// random stream: what it does to the nth packet that it concerns does not
// depend on the others.  Delays add up, and so do duplicates: two faults that
// always duplicate turn one packet into three.
class FaultLane {
 public:
  // Adds a fault.  REQUIRES: `number` is not used in this lane yet.
  void Add(uint32_t number, const FaultStage& stage);
  void Remove(uint32_t number);
  bool empty() const { return members_.empty(); }

  // REQUIRES: `number` was added and not removed.
  const FaultCounts& CountsOf(uint32_t number) const;

  // Nobody gives up for a shorter delay, which a link may well add to each of
  // its packets.
  static constexpr absl::Duration kNotableDelay = absl::Milliseconds(1);

  struct Fate {
    bool lost = false;
    bool corrupted = false;
    uint32_t culprit = 0;  // the fault that lost or corrupted it
    // The one that holds it up longest, if that is kNotableDelay or more.
    uint32_t delayer = 0;
    uint64_t symbol_errors = 0;
    int copies = 1;
    absl::Time arrival;  // `now` or later; in order unless reordered
  };
  Fate Decide(const Packet& packet, absl::Time now) {
    return Decide(packet, now, last_arrival_);
  }
  // The same where the packets of several queues pass, each of which keeps its
  // own order: `last_arrival` is that of the packet's queue.
  Fate Decide(const Packet& packet, absl::Time now, absl::Time& last_arrival);

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
