// The control socket's methods that look at the fabric or change it.
#ifndef IBEMU_DAEMON_SUBNET_FABRIC_METHODS_H_
#define IBEMU_DAEMON_SUBNET_FABRIC_METHODS_H_

#include <map>
#include <utility>

#include "base/timers.h"
#include "control/rpc.h"
#include "fabric/fabric.h"

namespace ibemu::fabric {
struct Node;
struct NodePort;
}  // namespace ibemu::fabric

namespace ibemu::daemon {

// `nodes` and `links` answer page by page (parameters "from", "limit"; in the
// result "total"), so that no request keeps the loop for long.
class FabricMethods {
 public:
  static constexpr int kPage = 1000;

  // Both must outlive this.
  FabricMethods(Timers& timers, fabric::Fabric& fabric);

  // Adds nodes, links, link.set, node.set and topology.text.  This must outlive
  // `dispatcher`'s last call.
  void AddTo(control::MethodTable& dispatcher);

  // {"cas": 2, "switches": 1, "routers": 0, "links": 2, "links_up": 2}
  nlohmann::json Summary() const;

 private:
  absl::StatusOr<nlohmann::json> Nodes(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Links(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> SetLink(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> SetNode(control::Parameters& parameters);

  Timers& timers_;
  fabric::Fabric& fabric_;
  // The timers that undo a change with "for", by node and port.
  std::map<std::pair<topology::NodeId, int>, TimerId> reverts_;
};

// The entries of a node and of a link in the results of `nodes` and `links`.  A
// link is described by the one of its ends that comes first.
nlohmann::json DescribeNode(const fabric::Subnet& subnet,
                            const fabric::Node& node);
nlohmann::json DescribeLink(const fabric::Subnet& subnet,
                            const fabric::NodePort& port);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_FABRIC_METHODS_H_
