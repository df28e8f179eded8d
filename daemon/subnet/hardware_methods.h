// The control socket's methods for what a technician does: look at a node, plug
// a cable elsewhere, give a port another LID or GUID.
#ifndef IBEMU_DAEMON_SUBNET_HARDWARE_METHODS_H_
#define IBEMU_DAEMON_SUBNET_HARDWARE_METHODS_H_

#include "absl/status/statusor.h"
#include "control/rpc.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

class HardwareMethods {
 public:
  // `fabric` must outlive this.
  explicit HardwareMethods(fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds
  //   node.show  {"node"}: all of its ports, and a switch's forwarding table
  //   cable.set  {"node", "port", "peer", "peer_port"}: plugs a cable into both
  //   lid.set    {"node", "port", "lid", "lmc"}: without a subnet manager
  //   guid.set   {"node", "port", "guid"}: of the node where "port" is missing
  // This must outlive `dispatcher`'s last call.
  void AddTo(control::Dispatcher& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> SetCable(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> SetLid(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> SetGuid(control::Parameters& parameters);

  // What has a LID: a switch's port 0, or a port of an adapter.
  absl::StatusOr<fabric::PortId> FindManaged(topology::NodeId id,
                                             int number) const;

  fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_HARDWARE_METHODS_H_
