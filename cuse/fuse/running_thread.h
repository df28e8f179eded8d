// RunningThread: the evidence that a thread has left a call that it was in.
#ifndef IBEMU_CUSE_FUSE_RUNNING_THREAD_H_
#define IBEMU_CUSE_FUSE_RUNNING_THREAD_H_

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace ibemu::cuse {

// A RunningThread is what was seen of a thread that is not asleep, as it would
// be in its call until we have its next request.
class RunningThread {
 public:
  // Takes one more look in a row: at the processor time of the thread, or that
  // this can't be found out.  Returns true when it must be elsewhere.  A look
  // counts only if the thread got processor time since the last: one that is
  // held back (a quota, a higher priority) may be anywhere.
  bool IsElsewhere(const absl::StatusOr<absl::Duration>& cpu_time);

 private:
  int times_ = 0;
  absl::Duration cpu_time_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_RUNNING_THREAD_H_
