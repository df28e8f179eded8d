// The methods of the control socket for the counters of ports.
#ifndef IBEMU_DAEMON_SUBNET_COUNTER_METHODS_H_
#define IBEMU_DAEMON_SUBNET_COUNTER_METHODS_H_

#include <string>

#include "absl/status/status.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A CounterMethods reads and writes the same counters that perfquery, sysfs and
// exporters show: they see at once what is set here.
class CounterMethods {
 public:
  // `fabric` must outlive this object.
  explicit CounterMethods(fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds counter.get and counter.set.  This object must outlive the last call
  // of `dispatcher`.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Get(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Set(control::Parameters& parameters);

  fabric::Fabric& fabric_;
};

// Returns OK if `text` is a "NAME=VALUE" that counter.set takes.
//
// Errors: NotFound for the name, InvalidArgument for the value.
absl::Status CheckCounterSetting(const std::string& text);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_COUNTER_METHODS_H_
