// LongWrites: write() calls that the kernel splits into several requests.
#ifndef IBEMU_CUSE_FUSE_LONG_WRITES_H_
#define IBEMU_CUSE_FUSE_LONG_WRITES_H_

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/timers.h"
#include "cuse/file.h"
#include "cuse/fuse/libfuse.h"
#include "cuse/fuse/running_thread.h"
#include "cuse/fuse/split_calls.h"

namespace ibemu::cuse {

// The unfinished long writes of one open device file, which collect their
// pieces until the File can have them as one.
//
// If it can't be found out whether a call ends with a piece (see SplitWrites),
// that piece is answered, and the File gets the data when no other has come for
// some time.  If more are known to follow, but none comes, the pieces are
// dropped when their thread is no longer in that call: a page of its buffer was
// missing, or a signal came.
class LongWrites {
 public:
  // REQUIRES: all outlive this object.
  LongWrites(Timers& timers, File& file, CallBudget& budget);
  ~LongWrites();
  LongWrites(const LongWrites&) = delete;
  LongWrites& operator=(const LongWrites&) = delete;

  // Returns true if thread `tid` is in the middle of a call.
  bool pending(pid_t tid) const { return calls_.pending(tid); }

  // Where a piece belongs: `offset` within its call, which begins at `start`.
  struct Place {
    uint64_t offset = 0;
    uint64_t start = 0;
  };
  // Returns the place of what thread `tid` writes at `offset`.  A call begins
  // at 0; with O_APPEND (`appends`), where the kernel believes the file to end.
  Place PlaceOf(pid_t tid, off_t offset, bool appends);

  // Adds the piece that `request` brings, of at most `piece` bytes.  Returns
  // the whole call if that is its end.  Otherwise answers the request.
  std::optional<SplitWrites::Whole> Add(fuse_req_t request, Bytes data,
                                        Place place, size_t piece);

 private:
  void StopWaiting(pid_t tid);
  void Finish(pid_t tid);
  void LookLater(pid_t tid, RunningThread seen);
  void Look(pid_t tid, RunningThread seen);

  Timers& timers_;
  File& file_;
  SplitWrites calls_;
  absl::flat_hash_map<pid_t, TimerId> waits_;  // for a next piece
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_LONG_WRITES_H_
