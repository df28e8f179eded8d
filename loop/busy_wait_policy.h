// BusyWaitPolicy: the decision whether a busy wait for the next request pays.
#ifndef IBEMU_LOOP_BUSY_WAIT_POLICY_H_
#define IBEMU_LOOP_BUSY_WAIT_POLICY_H_

#include <algorithm>

#include "absl/time/time.h"

namespace ibemu {

// A BusyWaitPolicy counts how often a busy wait would have paid.  A client that
// got an answer often asks again within microseconds: to sleep until then costs
// both sides a wake-up, on another CPU up to 50 us, and to look again and again
// costs CPU time if nothing comes.  The owner passes the times.
class BusyWaitPolicy {
 public:
  // The longest busy wait.
  static constexpr absl::Duration kSpan = absl::Microseconds(50);

  // Returns true if the loop should wait busily now.
  bool Pays() const { return credit_ > 0; }

  // A request came, this long after the last answer.
  void OnRequest(absl::Duration since_answer) {
    if (since_answer < kSpan) credit_ = std::min(credit_ + 1, kMax);
  }

  // Nothing came within kSpan.
  void OnVain() { credit_ = std::max(credit_ - kPrice, -kMax); }

 private:
  static constexpr int kMax = 8;
  static constexpr int kPrice = 2;  // of a busy wait in vain, in requests

  int credit_ = 0;
};

}  // namespace ibemu

#endif  // IBEMU_LOOP_BUSY_WAIT_POLICY_H_
