// ShownNode: a node that a run shows as a character device.
#ifndef IBEMU_LAUNCH_SUPERVISOR_SHOWN_NODE_H_
#define IBEMU_LAUNCH_SUPERVISOR_SHOWN_NODE_H_

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/unique_fd.h"
#include "launch/supervisor/client_identity.h"
#include "sysfs/view.h"

namespace ibemu::launch {

// A ShownNode is a uverbsN or the rdma_cm of a run.  The file behind it, which
// is what can be opened, has a dot before its name (cuse::TreeNode).
struct ShownNode {
  std::string name;            // "uverbs0"
  sysfs::DeviceNumber number;  // what sysfs says
  bool verbs = false;          // has files of events, too

  // Returns the node that the text of `path` names ("/dev/infiniband/uverbs0");
  // nothing if it names none.  No file system is asked.
  static std::optional<ShownNode> AtPath(std::string_view path);

  // Opens the file behind the node with `flags` of open(), as `client` would
  // from the thread `tid`: its root directory counts, and its rights.  Nothing
  // is opened before it was looked at.  The result is invalid if there is no
  // such file, or if it is none of a run's.
  UniqueFd OpenFor(pid_t tid, const ClientIdentity& client,
                   uint64_t flags) const;
};

// An OpenNode is a node that a client has open.
struct OpenNode {
  UniqueFd inode;  // O_PATH
  ShownNode node;

  // Returns that behind the descriptor `fd` of the thread `tid`, and keeps it,
  // whatever becomes of the descriptor; nothing if it is no node of ours.
  static std::optional<OpenNode> Of(pid_t tid, uint64_t fd);
};

}  // namespace ibemu::launch

#endif  // IBEMU_LAUNCH_SUPERVISOR_SHOWN_NODE_H_
