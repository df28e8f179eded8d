// The control socket's method that makes a program the adapter of a node.
#ifndef IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_METHODS_H_
#define IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_METHODS_H_

#include "control/rpc.h"
#include "daemon/adapters/host_table.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

class NodeLinkMethods {
 public:
  // All must outlive this, and every Caller that it served.
  NodeLinkMethods(Loop& loop, fabric::Fabric& fabric, HostTable& hosts);

  // Adds wire.attach: {"node": "node-2"}, and with it one end of a pair of
  // stream sockets, whose other end is a RemoteCables'.  The node is the
  // caller's while its connection is open.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Attach(control::Parameters& parameters,
                                        control::Caller& caller);

  Loop& loop_;
  fabric::Fabric& fabric_;
  HostTable& hosts_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_METHODS_H_
