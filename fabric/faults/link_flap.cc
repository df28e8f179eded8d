#include "fabric/faults/link_flap.h"

#include <utility>

namespace ibemu::fabric {

LinkFlap::LinkFlap(Timers& timers, const FlapPlan& plan, Random random,
                   absl::AnyInvocable<bool(bool up)> set)
    : timers_(timers),
      plan_(plan),
      random_(random),
      set_(std::move(set)),
      next_(timers.Now()) {
  PlanNext();
}

LinkFlap::~LinkFlap() {
  timers_.Cancel(timer_);
  if (is_cut_) set_(true);
}

void LinkFlap::PlanNext() {
  next_ += plan_.period;
  const auto span =
      static_cast<uint64_t>(absl::ToInt64Nanoseconds(2 * plan_.jitter));
  const auto jitter = absl::Nanoseconds(random_.Below(span + 1));
  timer_ = timers_.RunAt(next_ - plan_.jitter + jitter, [this] { Cut(); });
}

void LinkFlap::Cut() {
  is_cut_ = set_(false);
  if (!is_cut_) return PlanNext();
  ++cuts_;
  timer_ = timers_.RunAfter(plan_.down, [this] { Restore(); });
}

void LinkFlap::Restore() {
  is_cut_ = false;
  set_(true);
  PlanNext();
}

}  // namespace ibemu::fabric
