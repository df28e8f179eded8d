// FabricMethods: the control socket's methods that look at the fabric or change
// it.
#ifndef IBEMU_DAEMON_SUBNET_FABRIC_METHODS_H_
#define IBEMU_DAEMON_SUBNET_FABRIC_METHODS_H_

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/time/time.h"
#include "base/timers.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::fabric {
struct Node;
struct NodePort;
}  // namespace ibemu::fabric

namespace ibemu::daemon {

// A link that will be cut or restored, as "for" of link.set has it.
struct LinkRevert {
  topology::NodeId node{};
  int port = 0;
  bool up = false;  // then
  absl::Time at;    // of the loop's clock
};

// The FabricMethods list nodes and links, and take them down and up again.
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

  // The links that will be cut or restored.
  std::vector<LinkRevert> Reverts() const;
  // Has another value after each change of Reverts().
  uint64_t reverts_version() const { return reverts_version_; }
  // Cuts or restores it when its time comes, or soon if that is past.
  // REQUIRES: there is the port.
  void Revert(const LinkRevert& revert);

 private:
  struct Pending {
    TimerId timer = TimerId::kNone;
    bool up = false;
    absl::Time at;
  };

  absl::StatusOr<nlohmann::json> Nodes(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Links(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> SetLink(control::Parameters& parameters);
  absl::StatusOr<nlohmann::json> SetNode(control::Parameters& parameters);

  Timers& timers_;
  fabric::Fabric& fabric_;
  // What undoes a change with "for", by node and port.
  std::map<std::pair<topology::NodeId, int>, Pending> reverts_;
  uint64_t reverts_version_ = 0;
};

// The entries of a node and of a link in the results of `nodes` and `links`.  A
// link is described by the one of its ends that comes first.
nlohmann::json DescribeNode(const fabric::Subnet& subnet,
                            const fabric::Node& node);
nlohmann::json DescribeLink(const fabric::Subnet& subnet,
                            const fabric::NodePort& port);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_FABRIC_METHODS_H_
