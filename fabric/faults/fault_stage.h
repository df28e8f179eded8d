// FaultStage: one fault that acts on packets.
#ifndef IBEMU_FABRIC_FAULTS_FAULT_STAGE_H_
#define IBEMU_FABRIC_FAULTS_FAULT_STAGE_H_

#include <cstdint>
#include <limits>

#include "absl/time/time.h"
#include "base/random.h"
#include "fabric/faults/bit_errors.h"
#include "fabric/faults/packet_filter.h"

namespace ibemu::fabric {

// The parameters of a fault.  Probabilities are from 0 to 1, and are drawn for
// each packet separately.
struct LinkFaults {
  double loss = 0;       // vanishes; no port counts it
  double corrupt = 0;    // arrives with a bad CRC; counted, dropped
  double duplicate = 0;  // arrives twice
  double reorder = 0;    // arrives `reorder_by` later, others pass it
  absl::Duration delay = absl::ZeroDuration();
  absl::Duration jitter = absl::ZeroDuration();  // of the delay, plus or minus
  absl::Duration reorder_by = absl::Milliseconds(1);
  double ber = 0;  // per bit; a wrong bit corrupts its packet
  // Of the packets that it concerns, numbered from 1, only these.
  uint64_t first = 1, last = std::numeric_limits<uint64_t>::max();
  PacketFilter concerns = {};

  bool operator==(const LinkFaults&) const = default;
};

// The decisions of one fault on one packet after the other.
class FaultStage {
 public:
  FaultStage(const LinkFaults& faults, Random random);

  bool Concerns(const Packet& packet) const {
    return faults_.concerns.Matches(packet);
  }

  struct Fate {
    bool lost = false;
    bool corrupted = false;
    bool duplicated = false;
    uint64_t symbol_errors = 0;  // the bit errors that corrupted it
    absl::Duration delay;        // keeps the order
    absl::Duration held;         // added to it; other packets may overtake
  };
  // Decides on the next packet, whose length on the wire is `bits`.
  Fate Decide(uint64_t bits = 0);

 private:
  LinkFaults faults_;
  uint64_t seen_ = 0;  // packets that it has decided on
  Random random_;
  BitErrors bit_errors_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_FAULT_STAGE_H_
