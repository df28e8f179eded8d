// The control socket's method that shows the forwarding table of a switch.
#ifndef IBEMU_DAEMON_SUBNET_FORWARDING_METHODS_H_
#define IBEMU_DAEMON_SUBNET_FORWARDING_METHODS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A ForwardingMethods has forwarding.show, for unicast LIDs.  An answer has at
// most kPage runs of them.
class ForwardingMethods {
 public:
  static constexpr size_t kPage = 1000;

  // `fabric` must outlive this.
  explicit ForwardingMethods(const fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds forwarding.show: {"node": "leaf-1", "from": 1}.  The answer has
  //   "ports": [{"port", "peer": {"node", "guid", "port", "switch": true} or
  //            null, "lids": 12, "hosts": 8}], those of the switch with a
  //            cable, in order: how many unicast LIDs leave through each, and
  //            how many of these are hosts';
  //   "routes": [[first LID, last LID, port]], runs of LIDs that leave through
  //            one port, those from LID "from" on, at most kPage;
  //   "next":  the LID to give as "from" for more; null: there are none.
  // This must outlive `dispatcher`'s last call.
  //
  // Errors: Fabric::Find()'s; InvalidArgument for what is no switch.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;

  const fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_FORWARDING_METHODS_H_
