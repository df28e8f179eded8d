#include "fabric/fault_lane.h"

#include <algorithm>

namespace ibemu::fabric {
namespace {

void Count(const FaultStage::Fate& fate, FaultCounts& counts) {
  ++counts.packets;
  if (fate.lost) {
    ++counts.lost;
  } else if (fate.corrupted) {
    ++counts.corrupted;
  } else {
    if (fate.duplicated) ++counts.duplicated;
    if (fate.held > absl::ZeroDuration()) ++counts.reordered;
    if (fate.delay > absl::ZeroDuration()) ++counts.delayed;
  }
}

}  // namespace

void FaultLane::Add(uint32_t number, const FaultStage& stage) {
  members_.push_back({.number = number, .stage = stage, .counts = {}});
}

void FaultLane::Remove(uint32_t number) {
  std::erase_if(members_,
                [&](const Member& member) { return member.number == number; });
}

const FaultCounts& FaultLane::CountsOf(uint32_t number) const {
  return std::find_if(
             members_.begin(), members_.end(),
             [&](const Member& member) { return member.number == number; })
      ->counts;
}

FaultLane::Fate FaultLane::Decide(absl::Time now) {
  Fate fate;
  absl::Duration delay, held;
  for (Member& member : members_) {
    const FaultStage::Fate own = member.stage.Decide();
    if (fate.lost || fate.corrupted) continue;  // but it drew
    Count(own, member.counts);
    fate.lost = own.lost;
    fate.corrupted = own.corrupted && !own.lost;
    if (own.duplicated) ++fate.copies;
    delay += own.delay;
    held += own.held;
  }
  fate.arrival = now + delay;
  if (held > absl::ZeroDuration()) {
    fate.arrival += held;
  } else {
    fate.arrival = last_arrival_ = std::max(last_arrival_, fate.arrival);
  }
  return fate;
}

}  // namespace ibemu::fabric
