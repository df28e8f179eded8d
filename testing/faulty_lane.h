// FaultyLane: one direction of a bad cable.
#ifndef IBEMU_TESTING_FAULTY_LANE_H_
#define IBEMU_TESTING_FAULTY_LANE_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "base/timers.h"

namespace ibemu::mad {

// The faults of one direction.  Chances are between 0 and 1, and independent of
// each other.
struct PortFaults {
  double loss = 0;
  double duplicate = 0;
  double reorder = 0;  // held until the next packet passed, or `reorder_time`
  absl::Duration delay = absl::ZeroDuration();
  absl::Duration jitter = absl::ZeroDuration();  // at most this much more delay
  absl::Duration reorder_time = absl::Milliseconds(1);
};

// A FaultyLane delivers packets with faults.  Packets that are under way when
// it is destroyed are lost.
template <class Packet>
class FaultyLane {
 public:
  using Deliver = std::function<void(const Packet&)>;

  FaultyLane(Timers& timers, const PortFaults& faults, Random& random,
             Deliver deliver)
      : timers_(timers),
        faults_(faults),
        random_(random),
        deliver_(std::move(deliver)) {}
  ~FaultyLane() {
    timers_.Cancel(hold_timer_);
    for (const auto& [key, timer] : under_way_) timers_.Cancel(timer);
  }
  FaultyLane(const FaultyLane&) = delete;
  FaultyLane& operator=(const FaultyLane&) = delete;

  void Send(const Packet& packet) {
    if (random_.Chance(faults_.loss)) return;
    const int copies = random_.Chance(faults_.duplicate) ? 2 : 1;
    for (int i = 0; i < copies; ++i) {
      if (!held_ && random_.Chance(faults_.reorder)) {
        Hold(packet);
      } else {
        Delay(packet);
        Release();
      }
    }
  }

 private:
  void Hold(const Packet& packet) {
    held_ = packet;
    hold_timer_ = timers_.RunAfter(faults_.reorder_time, [this] { Release(); });
  }

  void Release() {
    if (!held_) return;
    timers_.Cancel(hold_timer_);
    Delay(*std::exchange(held_, std::nullopt));
  }

  void Delay(const Packet& packet) {
    constexpr uint64_t kSteps = 1 << 16;
    absl::Duration delay = faults_.delay;
    if (faults_.jitter > absl::ZeroDuration()) {
      delay += faults_.jitter * random_.Below(kSteps) / kSteps;
    }
    if (delay == absl::ZeroDuration()) return deliver_(packet);
    const uint64_t key = ++last_key_;
    under_way_[key] = timers_.RunAfter(delay, [this, packet, key] {
      under_way_.erase(key);
      deliver_(packet);
    });
  }

  Timers& timers_;
  PortFaults faults_;
  Random& random_;
  Deliver deliver_;
  std::optional<Packet> held_;
  TimerId hold_timer_ = TimerId::kNone;
  uint64_t last_key_ = 0;
  absl::flat_hash_map<uint64_t, TimerId> under_way_;
};

}  // namespace ibemu::mad

#endif  // IBEMU_TESTING_FAULTY_LANE_H_
