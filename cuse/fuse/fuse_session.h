// A libfuse session over a descriptor that somebody else watches.
#ifndef IBEMU_CUSE_FUSE_FUSE_SESSION_H_
#define IBEMU_CUSE_FUSE_FUSE_SESSION_H_

#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "cuse/fuse/fuse_result.h"
#include "cuse/fuse/libfuse.h"

namespace ibemu::cuse {

class FuseSession {
 public:
  FuseSession() = default;
  ~FuseSession();

  FuseSession(const FuseSession&) = delete;
  FuseSession& operator=(const FuseSession&) = delete;

  // A file system on /dev/fuse, a device on /dev/cuse.  `user` comes back in
  // every operation, by fuse_req_userdata().
  absl::Status Start(UniqueFd fd, const fuse_lowlevel_ops& operations,
                     void* user);
  absl::Status Start(UniqueFd fd, const cuse_info& device,
                     const cuse_lowlevel_ops& operations, void* user);

  int fd() const;

  // Handles one request, without waiting for it.
  FuseResult HandleOne();

 private:
  absl::Status Attach(UniqueFd fd);

  fuse_session* session_ = nullptr;
  fuse_buf buffer_{};
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_SESSION_H_
