// The low-level interface of libfuse, at the version that ibemu is written for.
#ifndef IBEMU_CUSE_FUSE_LIBFUSE_H_
#define IBEMU_CUSE_FUSE_LIBFUSE_H_

#define FUSE_USE_VERSION 312
#include <cuse_lowlevel.h>
#include <fuse_lowlevel.h>

#include "cuse/errno.h"
#include "mad/address.h"

namespace ibemu::cuse {

inline void ReplyError(fuse_req_t request, Errno error) {
  fuse_reply_err(request, static_cast<int>(error));
}

// Replies with data.
inline void ReplyData(fuse_req_t request, mad::Bytes data) {
  fuse_reply_buf(request, reinterpret_cast<const char*>(data.data()),
                 data.size());
}

// Replies with data in two parts.
void ReplyParts(fuse_req_t request, mad::Bytes head, mad::Bytes body);

// Replies so that the client gets `data`, and EIO: the reply claims one more
// byte, which can't be read.
void ReplyFaulting(fuse_req_t request, mad::Bytes data);

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_LIBFUSE_H_
