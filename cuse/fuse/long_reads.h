// LongReads: read() calls that the kernel splits into several requests.
#ifndef IBEMU_CUSE_FUSE_LONG_READS_H_
#define IBEMU_CUSE_FUSE_LONG_READS_H_

#include <sys/types.h>

#include <cstddef>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "cuse/client/caller_memory.h"
#include "cuse/fuse/libfuse.h"
#include "cuse/fuse/running_thread.h"
#include "cuse/fuse/split_calls.h"

namespace ibemu::cuse {

// The long reads of one open device file.  Its File answers the whole call at
// the first request, and later ones get the rest of that answer.  The rest is
// dropped when its thread is no longer in that call, as far as this can be
// found out: a page of its buffer was missing, or a signal came.
class LongReads {
 public:
  // REQUIRES: both outlive this object.
  LongReads(Timers& timers, CallBudget& budget);
  ~LongReads();
  LongReads(const LongReads&) = delete;
  LongReads& operator=(const LongReads&) = delete;

  // True if nobody has a rest to read.
  bool empty() const { return rests_.empty(); }

  // Begins a call of thread `tid` with a request of `size` bytes, when a
  // request has at most `piece`.  Drops what the thread has left of its last
  // call.  Returns the size of the whole call.
  size_t Begin(pid_t tid, size_t size, size_t piece);

  // Answers the first request of a call, which has `size` bytes, and keeps what
  // does not fit into it.  Without a budget for that the data are lost.
  void Answer(fuse_req_t request, size_t size, mad::Bytes head,
              std::vector<std::byte> body);

  // Answers a later request: `offset` is not 0.
  void GoOn(fuse_req_t request, size_t size, off_t offset);

 private:
  void StopLooking(pid_t tid);
  void LookLater(pid_t tid, const BlockedCall& call, RunningThread seen);
  void Look(pid_t tid, const BlockedCall& call, RunningThread seen);

  Timers& timers_;
  SplitReads rests_;
  absl::flat_hash_map<pid_t, TimerId> looks_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_LONG_READS_H_
