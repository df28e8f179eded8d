// Outstanding: a message that is repeated until its answer comes.
#ifndef IBEMU_CM_OUTSTANDING_H_
#define IBEMU_CM_OUTSTANDING_H_

#include <optional>

#include "absl/time/time.h"
#include "cm/sending.h"

namespace ibemu::cm {

// An Outstanding is such a message with its timer, as a value.
class Outstanding {
 public:
  // `sending` goes out now.
  Outstanding(const Sending& sending, absl::Time now, absl::Duration interval,
              int retries)
      : sending_(sending),
        interval_(interval),
        retries_left_(retries),
        deadline_(now + interval) {
    sending_.kind = Sending::Kind::kRepeat;
  }

  // When OnTimer() is to be called.
  absl::Time deadline() const { return deadline_; }

  // Waits for `interval` from now on, and after each of the repeats that are
  // left: ib_modify_mad().
  void Extend(absl::Time now, absl::Duration interval) {
    interval_ = interval;
    deadline_ = now + interval;
  }

  // Returns the message once more, or nothing after the last repeat.
  std::optional<Sending> OnTimer(absl::Time now) {
    if (retries_left_ == 0) return std::nullopt;
    --retries_left_;
    deadline_ = now + interval_;
    return sending_;
  }

 private:
  Sending sending_;
  absl::Duration interval_;
  int retries_left_;
  absl::Time deadline_;
};

}  // namespace ibemu::cm

#endif  // IBEMU_CM_OUTSTANDING_H_
