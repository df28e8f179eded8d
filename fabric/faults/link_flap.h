// LinkFlap: a link that goes down again and again.
#ifndef IBEMU_FABRIC_FAULTS_LINK_FLAP_H_
#define IBEMU_FABRIC_FAULTS_LINK_FLAP_H_

#include <cstdint>

#include "absl/functional/any_invocable.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "base/timers.h"

namespace ibemu::fabric {

// The schedule of a flapping link: one cut of length `down` at the end of each
// `period`, up to `jitter` earlier or later.  REQUIRES: down + 2 * jitter <
// period.
struct FlapPlan {
  absl::Duration period, down;
  absl::Duration jitter = absl::ZeroDuration();

  bool operator==(const FlapPlan&) const = default;
};

// A running flap.
class LinkFlap {
 public:
  // `set` cuts the link (false) or restores it (true), and returns whether that
  // changed anything.  If the link is already cut by something else, the flap
  // leaves it alone.
  LinkFlap(Timers& timers, const FlapPlan& plan, Random random,
           absl::AnyInvocable<bool(bool up)> set);
  LinkFlap(const LinkFlap&) = delete;
  LinkFlap& operator=(const LinkFlap&) = delete;
  ~LinkFlap();  // restores what it has cut

  uint64_t cuts() const { return cuts_; }

 private:
  void PlanNext();
  void Cut();
  void Restore();

  Timers& timers_;
  const FlapPlan plan_;
  Random random_;
  absl::AnyInvocable<bool(bool up)> set_;
  absl::Time next_;  // without jitter, so that jitter does not add up
  TimerId timer_ = TimerId::kNone;
  bool is_cut_ = false;  // by this flap
  uint64_t cuts_ = 0;
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FAULTS_LINK_FLAP_H_
