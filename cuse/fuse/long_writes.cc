#include "cuse/fuse/long_writes.h"

#include <sys/syscall.h>

#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {
namespace {

// The time to wait for the next piece of a write.  As a rule it comes within
// microseconds.
constexpr absl::Duration kNextPieceComesWithin = absl::Milliseconds(100);

// The sink of a write whose client already has its answer.
class NoOne final : public ReplySink {
 public:
  void SendError(RequestId, Errno) override {}
  void SendOpened(RequestId) override {}
  void SendData(RequestId, Bytes, std::vector<std::byte>) override {}
  void SendNoSpace(RequestId, size_t, Bytes, Bytes) override {}
  void SendWritten(RequestId, size_t) override {}
  void SendIoctl(RequestId, Errno, Bytes) override {}
};

}  // namespace

LongWrites::LongWrites(Timers& timers, File& file, CallBudget& budget)
    : timers_(timers), file_(file), calls_(SizeOfWrite, budget) {}

LongWrites::~LongWrites() {
  for (const auto& [tid, wait] : waits_) timers_.Cancel(wait);
}

LongWrites::Place LongWrites::PlaceOf(pid_t tid, off_t offset, bool appends) {
  const auto place = static_cast<uint64_t>(offset);
  if (!appends) return {.offset = place, .start = 0};
  const uint64_t in_call = calls_.OffsetOfAppended(tid, place);
  return {.offset = in_call, .start = place - in_call};
}

std::optional<SplitWrites::Whole> LongWrites::Add(fuse_req_t request,
                                                  Bytes data, Place place,
                                                  size_t piece) {
  const pid_t tid = fuse_req_ctx(request)->pid;
  if (place.offset == 0) Finish(tid);
  StopWaiting(tid);
  const File::LongestWrite longest = file_.longest_write();
  switch (calls_.Add({.tid = tid,
                      .user = fuse_req_ctx(request)->uid,
                      .offset = place.offset,
                      .start = place.start,
                      .data = data,
                      .limit = piece,
                      .head_size = file_.HeadSize(),
                      .longest = longest.bytes})) {
    case SplitWrites::Verdict::kInvalid:
      ReplyError(request, Errno::kInvalid);
      return std::nullopt;
    case SplitWrites::Verdict::kTooLong:
      ReplyError(request, longest.beyond);
      return std::nullopt;
    case SplitWrites::Verdict::kNoMemory:
      ReplyError(request, Errno::kNoMemory);
      return std::nullopt;
    case SplitWrites::Verdict::kMaybe:
      waits_[tid] =
          timers_.RunAfter(kNextPieceComesWithin, [this, tid] { Finish(tid); });
      fuse_reply_write(request, data.size());
      return std::nullopt;
    case SplitWrites::Verdict::kMore:
      LookLater(tid, {});
      fuse_reply_write(request, data.size());
      return std::nullopt;
    case SplitWrites::Verdict::kWhole:
      break;
  }
  return calls_.TakeWhole(tid);
}

void LongWrites::StopWaiting(pid_t tid) {
  if (const auto wait = waits_.extract(tid)) timers_.Cancel(wait.mapped());
}

void LongWrites::LookLater(pid_t tid, RunningThread seen) {
  waits_[tid] = timers_.RunAfter(kNextPieceComesWithin,
                                 [this, tid, seen] { Look(tid, seen); });
}

// Drops the pieces of a thread that is no longer in that write().
void LongWrites::Look(pid_t tid, RunningThread seen) {
  waits_.erase(tid);
  const absl::StatusOr<BlockedCall> call = CallOf(tid);
  if (call.ok() && call->number == SYS_write &&
      calls_.SizeOf(tid) == call->arguments[2]) {
    return LookLater(tid, {});
  }
  if (absl::IsUnavailable(call.status()) && !seen.IsElsewhere(CpuTimeOf(tid))) {
    return LookLater(tid, seen);
  }
  calls_.Forget(tid);
}

// Ends a write with the data that have come, as there will be no more.
void LongWrites::Finish(pid_t tid) {
  StopWaiting(tid);
  if (!calls_.pending(tid)) return;
  const bool may_be_whole = calls_.MayBeWhole(tid);
  SplitWrites::Whole whole = calls_.TakeWhole(tid);
  // Else incomplete: a page was missing, or a signal came.
  if (!may_be_whole) return;
  NoOne no_one;
  file_.Write({whole.head, std::move(whole.body)},
              WriteReply(no_one, RequestId{}));
}

}  // namespace ibemu::cuse
