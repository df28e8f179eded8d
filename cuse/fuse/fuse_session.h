// FuseSession: a libfuse session over a descriptor that its owner watches.
#ifndef IBEMU_CUSE_FUSE_FUSE_SESSION_H_
#define IBEMU_CUSE_FUSE_FUSE_SESSION_H_

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "cuse/fuse/fuse_result.h"
#include "cuse/fuse/libfuse.h"

namespace ibemu::cuse {

// A session.  It owns the descriptor, which it makes non-blocking.
class FuseSession {
 public:
  FuseSession() = default;
  ~FuseSession();

  FuseSession(const FuseSession&) = delete;
  FuseSession& operator=(const FuseSession&) = delete;

  // Starts a file system on /dev/fuse, or a device on /dev/cuse.  Every
  // operation gets `user` by fuse_req_userdata().
  absl::Status Start(UniqueFd fd, const fuse_lowlevel_ops& operations,
                     void* user);
  absl::Status Start(UniqueFd fd, const cuse_info& device,
                     const cuse_lowlevel_ops& operations, void* user);

  int fd() const;

  // Handles one request, and returns at once if there is none.
  FuseResult HandleOne();

 private:
  absl::Status Attach(UniqueFd fd);

  fuse_session* session_ = nullptr;
  fuse_buf buffer_{};
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_SESSION_H_
