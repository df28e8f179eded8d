// The control socket's method that says which way packets go.
#ifndef IBEMU_DAEMON_SUBNET_PATH_METHODS_H_
#define IBEMU_DAEMON_SUBNET_PATH_METHODS_H_

#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A PathMethods has path.trace, which follows forwarding tables without sending
// a packet.
class PathMethods {
 public:
  // `fabric` must outlive this.
  explicit PathMethods(const fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds path.trace: {"from": "node-1", "to": "node-2"}, and "from_port" and
  // "to_port" where it is not to be the first port that is active, "lid" where
  // it is not to be the first LID of the port at the end.  The answer has the
  // nodes on the way, as the forwarding tables are now ("hops"), and "end":
  // null when it arrives, else the cause of `drop` events and in "text" a
  // sentence.  This must outlive `dispatcher`'s last call.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Trace(control::Parameters& parameters) const;
  absl::StatusOr<fabric::PortId> FindEnd(const std::string& name,
                                         int port) const;

  const fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_PATH_METHODS_H_
