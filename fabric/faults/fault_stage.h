// One thing that goes wrong with packets.
#ifndef IBEMU_FABRIC_FAULTS_FAULT_STAGE_H_
#define IBEMU_FABRIC_FAULTS_FAULT_STAGE_H_

#include <cstdint>

#include "absl/time/time.h"
#include "base/random.h"
#include "fabric/faults/bit_errors.h"
#include "fabric/faults/packet_filter.h"

namespace ibemu::fabric {

// Probabilities are between 0 and 1; each packet draws its own luck.
struct LinkFaults {
  double loss = 0;       // vanishes, counted by no port
  double corrupt = 0;    // arrives with a bad CRC: counted and dropped there
  double duplicate = 0;  // arrives twice
  double reorder = 0;    // arrives `reorder_by` later; others overtake it
  absl::Duration delay = absl::ZeroDuration();
  absl::Duration jitter = absl::ZeroDuration();  // of the delay, either way
  absl::Duration reorder_by = absl::Milliseconds(1);
  double ber = 0;  // each bit; one that is wrong corrupts its packet
  PacketFilter concerns = {};

  bool operator==(const LinkFaults&) const = default;
};

// Decides the fate of one packet after the other.
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
    uint64_t symbol_errors = 0;  // that corrupted it
    absl::Duration delay;        // keeps the order
    absl::Duration held;         // on top of it; others overtake meanwhile
  };
  // `bits`: its length on the wire.
  Fate Decide(uint64_t bits = 0);

 private:
  LinkFaults faults_;
  Random random_;
  BitErrors bit_errors_;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_FAULT_STAGE_H_
