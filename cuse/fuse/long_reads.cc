#include "cuse/fuse/long_reads.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "cuse/client/caller_memory.h"

namespace ibemu::cuse {

size_t LongReads::Begin(pid_t tid, size_t size, size_t piece) {
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
  const size_t sent = size - front.size();
  const pid_t tid = fuse_req_ctx(request)->pid;
  ReplyParts(request, front, mad::Bytes(body).first(sent));
  rests_.Keep(tid, size, std::move(body), sent);
}

void LongReads::GoOn(fuse_req_t request, size_t size, off_t offset) {
  const pid_t tid = fuse_req_ctx(request)->pid;
  ReplyData(request, rests_.Next(tid, static_cast<uint64_t>(offset), size));
  rests_.ForgetIfRead(tid);
}

}  // namespace ibemu::cuse
