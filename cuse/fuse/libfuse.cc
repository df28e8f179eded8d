#include "cuse/fuse/libfuse.h"

#include <sys/mman.h>

#include <cstdlib>

namespace ibemu::cuse {
namespace {

iovec Part(mad::Bytes bytes) {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

// Returns the address of an unreadable byte, which stays for the life of the
// process.
void* UnreadableByte() {
  static void* const page =
      mmap(nullptr, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (page == MAP_FAILED) std::abort();
  return page;
}

}  // namespace

void ReplyParts(fuse_req_t request, mad::Bytes head, mad::Bytes body) {
  const iovec parts[] = {Part(head), Part(body)};
  fuse_reply_iov(request, parts, 2);
}

void ReplyFaulting(fuse_req_t request, mad::Bytes data) {
  const iovec parts[] = {Part(data), {UnreadableByte(), 1}};
  fuse_reply_iov(request, parts, 2);
}

}  // namespace ibemu::cuse
