#include "cuse/fuse/long_writes.h"

#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {
namespace {

// The time to wait for the next piece of a write if the size of the client's
// call can't be found out.  As a rule that piece comes within microseconds.
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

LongWrites::LongWrites(Timers& timers, File& file)
    : timers_(timers), file_(file), calls_(SizeOfWrite) {}

LongWrites::~LongWrites() {
  for (const auto& [tid, end] : ends_) timers_.Cancel(end);
}

std::optional<SplitWrites::Whole> LongWrites::Add(fuse_req_t request,
                                                  Bytes data, off_t offset,
                                                  size_t piece) {
  const pid_t tid = fuse_req_ctx(request)->pid;
  if (offset == 0) Finish(tid);
  CancelEnd(tid);
  switch (calls_.Add(tid, static_cast<uint64_t>(offset), data, piece,
                     file_.HeadSize())) {
    case SplitWrites::Verdict::kInvalid:
      ReplyError(request, Errno::kInvalid);
      return std::nullopt;
    case SplitWrites::Verdict::kMaybe:
      ends_[tid] =
          timers_.RunAfter(kNextPieceComesWithin, [this, tid] { Finish(tid); });
      [[fallthrough]];
    case SplitWrites::Verdict::kMore:
      fuse_reply_write(request, data.size());
      return std::nullopt;
    case SplitWrites::Verdict::kWhole:
      break;
  }
  return calls_.TakeWhole(tid);
}

void LongWrites::CancelEnd(pid_t tid) {
  if (const auto end = ends_.extract(tid)) timers_.Cancel(end.mapped());
}

// Ends a write with the data that have come, as there will be no more.
void LongWrites::Finish(pid_t tid) {
  CancelEnd(tid);
  if (!calls_.pending(tid)) return;
  const bool may_be_whole = calls_.MayBeWhole(tid);
  SplitWrites::Whole whole = calls_.TakeWhole(tid);
  // Else incomplete: a page was missing, or a signal came.
  if (!may_be_whole) return;
  NoOne no_one;
  file_.Write({whole.head, std::move(whole.body), 0},
              WriteReply(no_one, RequestId{}));
}

}  // namespace ibemu::cuse
