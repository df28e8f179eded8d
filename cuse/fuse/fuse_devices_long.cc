// FuseDevices, part 2: calls that the kernel splits into several requests.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuse/fuse/fuse_handle.h"

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

void FuseDevices::ReadLong(fuse_req_t request, Handle& handle, size_t size,
                           off_t offset, bool nonblock) {
  const pid_t tid = fuse_req_ctx(request)->pid;
  if (offset != 0) {
    const Bytes next =
        handle.reads.Next(tid, static_cast<uint64_t>(offset), size);
    fuse_reply_buf(request, Chars(next), next.size());
    handle.reads.ForgetIfRead(tid);
    return;
  }
  handle.reads.Forget(tid);
  size_t room = size;
  if (MayGoOn(size, piece_)) {
    // If the size can't be found out, the client is assumed to have room for
    // everything.
    room = SizeOfRead(tid).value_or(SIZE_MAX);
    long_reads_.emplace(IdOf(request), LongRead{&handle, size});
  }
  Dispatch(request, handle, [&](RequestId id) {
    handle.file->Read(nonblock, ReadReply(*this, id, room));
  });
}

void FuseDevices::SendLong(fuse_req_t request, const LongRead& read, Bytes head,
                           std::vector<std::byte> body) {
  if (head.size() + body.size() <= read.size) {
    return ReplyParts(request, head, body);
  }
  // As a rule a piece is longer than a head.
  const Bytes front = head.first(std::min(head.size(), read.size));
  const Bytes rest = head.subspan(front.size());
  body.insert(body.begin(), rest.begin(), rest.end());
  const size_t sent = read.size - front.size();
  const pid_t tid = fuse_req_ctx(request)->pid;
  ReplyParts(request, front, Bytes(body).first(sent));
  read.handle->reads.Keep(tid, read.size, std::move(body), sent);
}

void FuseDevices::WriteLong(fuse_req_t request, Handle& handle, Bytes data,
                            off_t offset) {
  const pid_t tid = fuse_req_ctx(request)->pid;
  if (offset == 0) FinishWrite(handle, tid);
  CancelWriteEnd(handle, tid);
  switch (handle.writes.Add(tid, static_cast<uint64_t>(offset), data, piece_,
                            handle.file->HeadSize())) {
    case SplitWrites::Verdict::kInvalid:
      return ReplyError(request, Errno::kInvalid);
    case SplitWrites::Verdict::kMaybe:
      handle.write_ends[tid] =
          timers_.RunAfter(kNextPieceComesWithin, [self = self_, &handle, tid] {
            if (*self != nullptr) (*self)->FinishWrite(handle, tid);
          });
      [[fallthrough]];
    case SplitWrites::Verdict::kMore:
      fuse_reply_write(request, data.size());
      return;
    case SplitWrites::Verdict::kWhole:
      break;
  }
  SplitWrites::Whole whole = handle.writes.TakeWhole(tid);
  long_writes_.emplace(IdOf(request), data.size());
  Dispatch(request, handle, [&](RequestId id) {
    handle.file->Write(
        {whole.head, std::move(whole.body), fuse_req_ctx(request)->pid},
        WriteReply(*this, id));
  });
}

void FuseDevices::CancelWriteEnd(Handle& handle, pid_t tid) {
  if (const auto end = handle.write_ends.extract(tid)) {
    timers_.Cancel(end.mapped());
  }
}

// Ends a write with the data that have come, as there will be no more.
void FuseDevices::FinishWrite(Handle& handle, pid_t tid) {
  CancelWriteEnd(handle, tid);
  if (!handle.writes.pending(tid)) return;
  const bool may_be_whole = handle.writes.MayBeWhole(tid);
  SplitWrites::Whole whole = handle.writes.TakeWhole(tid);
  if (!may_be_whole)
    return;  // incomplete: a page was missing, or a signal came
  NoOne no_one;
  handle.file->Write({whole.head, std::move(whole.body), 0},
                     WriteReply(no_one, RequestId{}));
}

}  // namespace ibemu::cuse
