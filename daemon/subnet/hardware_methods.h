// The methods of the control socket for the work of a technician: looking at a
// node, plugging a cable elsewhere, giving a port another LID or GUID.
#ifndef IBEMU_DAEMON_SUBNET_HARDWARE_METHODS_H_
#define IBEMU_DAEMON_SUBNET_HARDWARE_METHODS_H_

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A HardwareMethods reads and changes nodes and ports directly, without SMPs
// and without asking the subnet manager.
class HardwareMethods {
 public:
  // `fabric` must outlive this object.
  explicit HardwareMethods(fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds
  //   node.show  {"node"}: all of its ports, and a switch's forwarding table
  //   cable.set  {"node", "port", "peer", "peer_port"}: plugs a cable into both
  //   lid.set    {"node", "port", "lid", "lmc"}: sets a LID without a subnet
  //              manager
  //   guid.set   {"node", "port", "guid"}: without "port", the node's GUID
  // This object must outlive the last call of `dispatcher`.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> SetCable(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> SetLid(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> SetGuid(control::Parameters& parameters);

  // Returns a port that has a LID of its own: port 0 of a switch, or a port of
  // an adapter.
  absl::StatusOr<fabric::PortId> FindManaged(topology::NodeId id,
                                             int number) const;

  fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_HARDWARE_METHODS_H_
