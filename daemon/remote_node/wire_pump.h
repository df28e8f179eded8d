// Keeps the wires of a modelled adapter moving.
#ifndef IBEMU_DAEMON_REMOTE_NODE_WIRE_PUMP_H_
#define IBEMU_DAEMON_REMOTE_NODE_WIRE_PUMP_H_

#include <memory>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "daemon/remote_node/remote_wire.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// Hands what comes by the wires to their listeners, between two events of the
// loop.
class WirePump {
 public:
  // Both must outlive it.  `lost` is called once, from the loop, when the
  // fabric's daemon is gone.
  WirePump(Loop& loop, RemoteWires& wires, absl::AnyInvocable<void()> lost);
  ~WirePump();
  WirePump(const WirePump&) = delete;
  WirePump& operator=(const WirePump&) = delete;

  absl::Status Start();

 private:
  void Pump();
  void PumpSoon();

  Loop& loop_;
  RemoteWires& wires_;
  absl::AnyInvocable<void()> lost_;
  absl::Status status_;
  // Gone with this: for what is deferred.
  const std::shared_ptr<WirePump*> self_ = std::make_shared<WirePump*>(this);
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_WIRE_PUMP_H_
