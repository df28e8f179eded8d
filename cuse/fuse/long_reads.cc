#include "cuse/fuse/long_reads.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "absl/time/time.h"

namespace ibemu::cuse {
namespace {

// The time between two looks at a thread that has not read everything.  As a
// rule it has done so within microseconds.
constexpr absl::Duration kLooks = absl::Milliseconds(100);

}  // namespace

LongReads::LongReads(Timers& timers, CallBudget& budget)
    : timers_(timers), rests_(budget) {}

LongReads::~LongReads() {
  for (const auto& [tid, look] : looks_) timers_.Cancel(look);
}

size_t LongReads::Begin(pid_t tid, size_t size, size_t piece) {
  StopLooking(tid);
  rests_.Forget(tid);
  if (!MayGoOn(size, piece)) return size;
  // If the size can't be found out, the client is assumed to have room for
  // everything.
  return SizeOfRead(tid).value_or(SIZE_MAX);
}

void LongReads::Answer(fuse_req_t request, size_t size, mad::Bytes head,
                       std::vector<std::byte> body) {
  if (head.size() + body.size() <= size) {
    return ReplyParts(request, head, body);
  }
  // As a rule a piece is longer than a head.
  const mad::Bytes front = head.first(std::min(head.size(), size));
  const mad::Bytes rest = head.subspan(front.size());
  body.insert(body.begin(), rest.begin(), rest.end());
  const pid_t tid = fuse_req_ctx(request)->pid;
  if (!rests_.Keep({.tid = tid,
                    .user = fuse_req_ctx(request)->uid,
                    .bytes = std::move(body),
                    .sent = size - front.size(),
                    .offset = size})) {
    return ReplyError(request, Errno::kNoMemory);
  }
  // It is in that call until it has the answer.
  if (const absl::StatusOr<BlockedCall> call = CallOf(tid); call.ok()) {
    LookLater(tid, *call, {});
  }
  ReplyParts(request, front, rests_.First(tid));
}

void LongReads::GoOn(fuse_req_t request, size_t size, off_t offset) {
  const pid_t tid = fuse_req_ctx(request)->pid;
  ReplyData(request, rests_.Next(tid, static_cast<uint64_t>(offset), size));
  rests_.ForgetIfRead(tid);
  if (!rests_.pending(tid)) StopLooking(tid);
}

void LongReads::StopLooking(pid_t tid) {
  if (const auto look = looks_.extract(tid)) timers_.Cancel(look.mapped());
}

void LongReads::LookLater(pid_t tid, const BlockedCall& call,
                          RunningThread seen) {
  looks_[tid] = timers_.RunAfter(
      kLooks, [this, tid, call, seen] { Look(tid, call, seen); });
}

// Drops the rest of a thread that is no longer in that read().
void LongReads::Look(pid_t tid, const BlockedCall& call, RunningThread seen) {
  looks_.erase(tid);
  const absl::StatusOr<BlockedCall> now = CallOf(tid);
  if (now.ok() && *now == call) return LookLater(tid, call, {});
  if (absl::IsUnavailable(now.status()) && !seen.IsElsewhere(CpuTimeOf(tid))) {
    return LookLater(tid, call, seen);
  }
  rests_.Forget(tid);
}

}  // namespace ibemu::cuse
