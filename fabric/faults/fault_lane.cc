#include "fabric/faults/fault_lane.h"

#include <algorithm>

namespace ibemu::fabric {
namespace {

// The length on the wire (IBA vol 1 §7.8).  Words() covers all but the VCRC of
// 16 bits.
uint64_t BitsOf(const Packet& packet) {
  return uint64_t{packet.Words()} * 32 + 16;
}

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

FaultLane::Fate FaultLane::Decide(const Packet& packet, absl::Time now,
                                  absl::Time& last_arrival) {
  Fate fate;
  const uint64_t bits = BitsOf(packet);
  absl::Duration delay, held, longest = kNotableDelay;
  for (Member& member : members_) {
    if (!member.stage.Concerns(packet)) continue;
    const FaultStage::Fate own = member.stage.Decide(bits);
    if (fate.lost || fate.corrupted) continue;  // it has drawn all the same
    Count(own, member.counts);
    fate.lost = own.lost;
    fate.corrupted = own.corrupted && !own.lost;
    fate.symbol_errors = own.symbol_errors;
    if (own.lost || own.corrupted) fate.culprit = member.number;
    if (own.duplicated) ++fate.copies;
    delay += own.delay;
    held += own.held;
    if (own.delay + own.held >= longest) {
      longest = own.delay + own.held;
      fate.delayer = member.number;
    }
  }
  fate.arrival = now + delay;
  if (held > absl::ZeroDuration()) {
    fate.arrival += held;
  } else {
    fate.arrival = last_arrival = std::max(last_arrival, fate.arrival);
  }
  return fate;
}

}  // namespace ibemu::fabric
