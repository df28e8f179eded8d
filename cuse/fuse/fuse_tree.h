// FuseTree: one view's devices and sysfs entries as a FUSE file system.
#ifndef IBEMU_CUSE_FUSE_FUSE_TREE_H_
#define IBEMU_CUSE_FUSE_FUSE_TREE_H_

#include <sys/types.h>

#include <functional>
#include <memory>
#include <string>

#include "absl/status/status.h"
#include "base/timers.h"
#include "base/worker_pool.h"
#include "cuse/file.h"
#include "cuse/fuse/fuse_result.h"
#include "cuse/rings/ring_set.h"
#include "cuse/uverbs/uverbs_files.h"
#include "sysfs/view.h"
#include "verbs/provider.h"

namespace ibemu::cuse {

// A file system.  Its root shows `dev/` (umadN, issmN, uverbsN, rdma_cm) and
// `sys/` (sysfs::BuildTree), which are to be bound to the places where programs
// look.
//
// Mount it with type "fuse" and data
// "fd=N,rootmode=40000,user_id=U,group_id=G", MS_NOSUID|MS_NODEV, without
// max_read; U and G are ids of the mount's user namespace.
// "default_permissions" is allowed, but not needed.  Requests must be served
// from the moment of the mount, because even stat() of the mount point waits
// for them.
class FuseTree {
 public:
  struct Options {
    // The owner of every entry, as ids of the mount's user namespace.
    uid_t uid = 0;
    gid_t gid = 0;
    mode_t device_mode = 0600;  // as Linux gives umadN and issmN; uverbsN and
                                // rdma_cm have 0666
    // Returns the verbs of the adapter in a slot of the view.  Needed only for
    // views with uverbs nodes.
    std::function<verbs::Provider&(int slot)> provider_of{};
    // Makes the File of an open() of rdma_cm.  Needed only for views with it.
    std::function<std::unique_ptr<File>()> rdma_cm_file{};
    // The path of `sys/`, for when its classes are bound elsewhere: their links
    // then lead there.  If empty, the links are relative, as in sysfs.
    std::string sys_path{};
    // Where clients' rings are served; null: they can have none.  Must outlive
    // the tree.
    RingSet* rings = nullptr;
    // Lists the open uverbs files; or null.  Must outlive the tree.
    UverbsFiles* uverbs_files = nullptr;
  };

  // REQUIRES: `timers`, `view` and `workers` outlive the tree.
  FuseTree(Timers& timers, const sysfs::View& view, WorkerPool& workers,
           const Options& options);

  // Ends every open file.  Clients see ENOTCONN from then on.
  ~FuseTree();

  FuseTree(const FuseTree&) = delete;
  FuseTree& operator=(const FuseTree&) = delete;

  // Serves an open /dev/fuse (or a socket that speaks its protocol).  Takes
  // ownership of `fuse_fd`, even on failure.  REQUIRES: called once.
  absl::Status Serve(int fuse_fd);

  // Must be called when a device was plugged into the view or pulled out.
  // Later look-ups and listings show the change.  Open files of a removed
  // device stay open.
  void Update();

  // The descriptor to watch for readability; -1 before Serve().
  int fd() const;

  // Handles one request, and returns at once if there is none.  After kEnded
  // the caller must forget fd() and destroy the tree.
  [[nodiscard]] FuseResult HandleOne();

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ibemu::cuse

#endif  // IBEMU_CUSE_FUSE_FUSE_TREE_H_
