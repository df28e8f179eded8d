// The launcher's side of the control socket: shows a view to one FUSE mount.
#ifndef IBEMU_DAEMON_ATTACH_H_
#define IBEMU_DAEMON_ATTACH_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ibemu::daemon {

// JSON-RPC: {"method": "attach", "params": {"hosts": [...], "profile": "qib",
// "device_name": "ibemu%d"}}, with the /dev/fuse descriptor of a mount as
// SCM_RIGHTS of the same bytes.  The result has the two members of Attachment.
struct AttachRequest {
  std::vector<std::string> hosts;  // empty: the first CA
  std::string profile;
  std::string device_name;
};

struct Attachment {
  std::vector<std::string> hosts;  // as the fabric calls them
  std::string socket;              // of the daemon: IBEMU_FABRIC of the run
};

// Asks the daemon on `connection` to serve `fuse`.  Blocks until it does.  The
// view lasts as long as the connection.
//
// Errors: the daemon's own, with its message (NotFound: no such host);
// Unavailable when the connection ends.
absl::StatusOr<Attachment> Attach(int connection, const AttachRequest& request,
                                  int fuse);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_ATTACH_H_
