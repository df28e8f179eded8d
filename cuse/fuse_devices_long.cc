// Calls that the kernel cut into several requests.
#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "cuse/fuse_handle.h"

namespace ibemu::cuse {
namespace {

// A client whose call's size can't be known sends the next piece of a write
// within microseconds.
constexpr absl::Duration kNextPieceComesWithin = absl::Milliseconds(20);

// For a write whose client has its answer already.
class NoOne final : public ReplySink {
 public:
  void SendError(RequestId, Errno) override {}
  void SendOpened(RequestId) override {}
  void SendData(RequestId, Bytes, Bytes) override {}
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
    return;
  }
  handle.reads.Forget(tid);
  size_t room = size;
  if (MayGoOn(size, piece_)) {
    // If it can't be known, the client is taken to have room for all.
    room = SizeOfRead(tid).value_or(SIZE_MAX);
    long_reads_.emplace(IdOf(request), LongRead{&handle, size});
  }
  Dispatch(request, handle, [&](RequestId id) {
    handle.file->Read(nonblock, ReadReply(*this, id, room));
  });
}

void FuseDevices::SendLong(fuse_req_t request, const LongRead& read, Bytes head,
                           Bytes body) {
  if (head.size() + body.size() <= read.size) {
    return ReplyParts(request, head, body);
  }
  std::vector<std::byte> whole(head.begin(), head.end());
  whole.insert(whole.end(), body.begin(), body.end());
  const pid_t tid = fuse_req_ctx(request)->pid;
  fuse_reply_buf(request, Chars(whole), read.size);
  read.handle->reads.Keep(tid, read.size, std::move(whole));
}

void FuseDevices::WriteLong(fuse_req_t request, Handle& handle, Bytes data,
                            off_t offset) {
  if (offset == 0) FinishWrite(handle);
  timers_.Cancel(handle.write_ends);
  switch (handle.writes.Add(fuse_req_ctx(request)->pid,
                            static_cast<uint64_t>(offset), data, piece_)) {
    case SplitWrites::Verdict::kInvalid:
      return ReplyError(request, Errno::kInvalid);
    case SplitWrites::Verdict::kMaybe:
      handle.write_ends =
          timers_.RunAfter(kNextPieceComesWithin, [self = self_, &handle] {
            if (*self != nullptr) (*self)->FinishWrite(handle);
          });
      [[fallthrough]];
    case SplitWrites::Verdict::kMore:
      fuse_reply_write(request, data.size());
      return;
    case SplitWrites::Verdict::kWhole:
      break;
  }
  const std::vector<std::byte> whole = handle.writes.TakeWhole();
  long_writes_.emplace(IdOf(request), data.size());
  Dispatch(request, handle, [&](RequestId id) {
    handle.file->Write(whole, WriteReply(*this, id));
  });
}

// What has come of a write is all that comes.
void FuseDevices::FinishWrite(Handle& handle) {
  timers_.Cancel(handle.write_ends);
  if (!handle.writes.pending()) return;
  const std::vector<std::byte> whole = handle.writes.TakeWhole();
  NoOne no_one;
  handle.file->Write(whole, WriteReply(no_one, RequestId{}));
}

}  // namespace ibemu::cuse
