// One view's devices and sysfs entries as a FUSE file system.
#ifndef IBEMU_CUSE_FUSE_FUSE_TREE_H_
#define IBEMU_CUSE_FUSE_FUSE_TREE_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/timers.h"
#include "base/worker_pool.h"
#include "cuse/fuse/fuse_result.h"
#include "sysfs/view.h"
#include "verbs/provider.h"

namespace ibemu::cuse {

// The root shows `dev/` (umadN, issmN, uverbsN) and `sys/` (sysfs::BuildTree):
// bind them to where programs look.
//
// Mount with type "fuse" and data "fd=N,rootmode=40000,user_id=U,group_id=G",
// MS_NOSUID|MS_NODEV, without max_read; U and G are ids of the mount's user
// namespace.  "default_permissions" is welcome, not needed.  Requests must
// be served from the mount on: even stat() of the mount point waits for them.
class FuseTree {
 public:
  struct Options {
    // The owner of every entry, as ids of the mount's user namespace.
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t device_mode = 0600;  // as Linux gives umadN and issmN; uverbsN has
                                // 0666
    // The verbs of the adapter in a slot of the view; only for views with
    // uverbs nodes.
    std::function<verbs::Provider&(int slot)> provider_of{};
    // Where `sys/` is to be found when its classes are bound elsewhere: then
    // their links lead there.  Empty: they are relative, as in sysfs.
    std::string sys_path{};
  };

  // `timers`, `view` and `workers` must outlive the tree.
  FuseTree(Timers& timers, const sysfs::View& view, WorkerPool& workers,
           const Options& options);

  // Ends every open file.  Clients see ENOTCONN from then on.
  ~FuseTree();

  FuseTree(const FuseTree&) = delete;
  FuseTree& operator=(const FuseTree&) = delete;

  // Serves an open /dev/fuse (or a socket that speaks its protocol).  Takes
  // ownership of `fuse_fd`, also when it fails.  Call once.
  absl::Status Serve(int fuse_fd);

  // To be called when a device was plugged into the view or pulled out: every
  // later look-up and listing shows it.  Open files of a device that went stay
  // open.
  void Update();

  // To be watched for readability; -1 before Serve().
  int fd() const;

  // Handles one request, without waiting for it.  After kEnded forget fd() and
  // destroy the tree.
  [[nodiscard]] FuseResult HandleOne();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_TREE_H_
