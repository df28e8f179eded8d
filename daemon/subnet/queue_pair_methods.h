// The control socket's method that lists queue pairs.
#ifndef IBEMU_DAEMON_SUBNET_QUEUE_PAIR_METHODS_H_
#define IBEMU_DAEMON_SUBNET_QUEUE_PAIR_METHODS_H_

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A QueuePairMethods knows the queue pairs of software adapters: those that
// programs have made by verbs, and those of the daemon's own IP interfaces.
class QueuePairMethods {
 public:
  static constexpr size_t kPage = 500;

  // `fabric` must outlive this object.
  explicit QueuePairMethods(const fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds qp.list {"node", "from"}: the queue pairs of a node, or without "node"
  // of all, by node and number.  There are at most kPage in an answer; if there
  // are more, "next" is what to give as "from".  And qp.show {"node", "qpn"}:
  // one queue pair with its "attributes", those of ibv_query_qp() by their
  // names there, and in nanoseconds what two codes stand for: "timeout_ns"
  // (null: no timeout) and "min_rnr_timer_ns".  This object must outlive the
  // last call of `dispatcher`.
  //
  // Errors: NotFound.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> List(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;

  const fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_QUEUE_PAIR_METHODS_H_
