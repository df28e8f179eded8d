// The control socket's method that says what is wrong with the subnet.
#ifndef IBEMU_DAEMON_SUBNET_HEALTH_METHODS_H_
#define IBEMU_DAEMON_SUBNET_HEALTH_METHODS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A HealthMethods looks at all ports at once, as iblinkinfo and ibqueryerrors
// do by MADs.
class HealthMethods {
 public:
  static constexpr size_t kMaxSlow = 100;
  static constexpr size_t kMaxErrors = 10;

  // `fabric` must outlive this.
  explicit HealthMethods(const fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds health: {"links": {"active": 62, "init": 0, "down": 1, "cut": 1},
  //   "slow": links whose width or speed is less than both ends support, each
  //           as in the result of `links` and with "could_be": "4xHDR"; the
  //           first kMaxSlow of "slow_count",
  //   "errors": [{"node", "guid", "port", "total": 5, "counters": [{"name",
  //           "value"}]}]: the kMaxErrors ports of "error_count" whose error
  //           counters have the greatest sum, the greatest first,
  //   "managers": [{"node", "guid", "port", "lid", "master": true,
  //           "sweep": {"under_way": false, "seconds": 0.4, "ago": 7.1, "gets":
  //           1243, "sets": 310}}]: ports on which a subnet manager says that
  //           it is there, and when it swept last, if it did; "ago", in
  //           seconds, is when it ended; the built-in one needs no SMPs,
  //   "wrong": ["1 link is down", "1 link is cut"]: what is wrong, for people}.
  // This must outlive `dispatcher`'s last call.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Health(control::Parameters& parameters) const;

  const fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_HEALTH_METHODS_H_
