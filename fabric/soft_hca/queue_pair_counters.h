// QueuePairCounters: the counters of a queue pair, port by port.
#ifndef IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_COUNTERS_H_
#define IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_COUNTERS_H_

#include <utility>

#include "verbs/hw_counters.h"

namespace ibemu::fabric {

// The QueuePairCounters are those of the port that a queue pair uses, apart
// from those of ports that it used before: a port keeps what was counted there.
class QueuePairCounters {
 public:
  // Those of the present port.
  verbs::HwCounters& present() { return present_; }
  const verbs::HwCounters& present() const { return present_; }

  // Returns what was counted since the last reset, at all ports.
  verbs::HwCounters All() const {
    verbs::HwCounters all = earlier_;
    verbs::AddCounters(present_, all);
    return all;
  }

  // Begins anew, at another port perhaps; returns what was counted at this one.
  verbs::HwCounters Leave() {
    verbs::AddCounters(present_, earlier_);
    return std::exchange(present_, {});
  }
  // As Leave(), and forgets what was counted before.
  verbs::HwCounters Reset() {
    earlier_ = {};
    return std::exchange(present_, {});
  }

 private:
  verbs::HwCounters present_;
  verbs::HwCounters earlier_;  // since the last reset
};

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SOFT_HCA_QUEUE_PAIR_COUNTERS_H_
