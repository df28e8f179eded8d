// NodeLinkPump: the loop's side of the cables of an adapter whose fabric is
// another daemon's.
#ifndef IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_PUMP_H_
#define IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_PUMP_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "base/unique_fd.h"
#include "daemon/remote_node/remote_cable.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// Hands what comes by the cables to their listeners, between two events of the
// loop, and sends what the daemon had no room for.
class NodeLinkPump {
 public:
  // Both must outlive it.  `lost` is called once, from the loop, when the
  // fabric's daemon is gone; it may not destroy this.
  NodeLinkPump(Loop& loop, RemoteCables& cables,
               absl::AnyInvocable<void()> lost);
  ~NodeLinkPump();
  NodeLinkPump(const NodeLinkPump&) = delete;
  NodeLinkPump& operator=(const NodeLinkPump&) = delete;

  absl::Status Start();

 private:
  void Pump();
  void PumpSoon();
  void AwaitRoom();

  Loop& loop_;
  RemoteCables& cables_;
  absl::AnyInvocable<void()> lost_;
  UniqueFd writer_;  // the same socket: the loop watches each for one thing
  bool awaits_room_ = false;
  absl::Status status_;
  // Gone with this: for what is deferred.
  const std::shared_ptr<NodeLinkPump*> self_ =
      std::make_shared<NodeLinkPump*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_NODE_LINK_PUMP_H_
