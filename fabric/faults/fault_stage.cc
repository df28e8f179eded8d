#include "fabric/faults/fault_stage.h"

#include <algorithm>

namespace ibemu::fabric {

FaultStage::FaultStage(const LinkFaults& faults, Random random)
    : faults_(faults),
      random_(random),
      // `random` is a copy, so this draw does not change the draws of random_.
      bit_errors_(faults.ber, Random(random.Next())) {}

FaultStage::Fate FaultStage::Decide(uint64_t bits) {
  Fate fate;
  ++seen_;
  if (seen_ < faults_.first || seen_ > faults_.last) return fate;
  // All probabilities are drawn for every packet, so that the losses of a run
  // do not depend on which other faults are set.
  fate.lost = random_.Chance(faults_.loss);
  fate.corrupted = random_.Chance(faults_.corrupt);
  fate.duplicated = random_.Chance(faults_.duplicate);
  if (random_.Chance(faults_.reorder)) fate.held = faults_.reorder_by;
  const auto span =
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(2 * faults_.jitter));
  const auto jitter = absl::Nanoseconds(random_.Below(span + 1));
  fate.delay =
      std::max(faults_.delay - faults_.jitter + jitter, absl::ZeroDuration());
  fate.symbol_errors = bit_errors_.Count(bits) + (fate.corrupted ? 1 : 0);
  fate.corrupted = fate.symbol_errors > 0;
  return fate;
}

}  // namespace ibemu::fabric
