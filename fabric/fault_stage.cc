#include "fabric/fault_stage.h"

#include <algorithm>

namespace ibemu::fabric {

FaultStage::Fate FaultStage::Decide(absl::Time now) {
  Fate fate;
  // Every chance is drawn for every packet, so that the losses of a run do not
  // depend on which other faults are set.
  fate.lost = random_.Chance(faults_.loss);
  fate.corrupted = random_.Chance(faults_.corrupt);
  if (random_.Chance(faults_.duplicate)) fate.copies = 2;
  const bool reordered = random_.Chance(faults_.reorder);
  const auto span =
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(faults_.jitter));
  const auto jitter = absl::Nanoseconds(random_.Below(span + 1));

  const absl::Time arrival = now + faults_.delay + jitter;
  if (reordered) {
    fate.arrival = arrival + faults_.reorder_by;
  } else {
    fate.arrival = last_arrival_ = std::max(last_arrival_, arrival);
  }
  return fate;
}

}  // namespace ibemu::fabric
