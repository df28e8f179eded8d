// The control socket's methods for the counters of ports.
#ifndef IBEMU_DAEMON_SUBNET_COUNTER_METHODS_H_
#define IBEMU_DAEMON_SUBNET_COUNTER_METHODS_H_

#include <string>

#include "absl/status/status.h"
#include "control/rpc.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// What perfquery, sysfs and exporters show is read and written: they see at
// once what is set here.
class CounterMethods {
 public:
  // `fabric` must outlive this.
  explicit CounterMethods(fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds counter.get and counter.set.  This must outlive `dispatcher`'s last
  // call.
  void AddTo(control::Dispatcher& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Get(control::Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Set(control::Parameters& parameters);

  fabric::Fabric& fabric_;
};

// Whether "NAME=VALUE" is something that counter.set takes.
//
// Errors: NotFound for the name, InvalidArgument for the value.
absl::Status CheckCounterSetting(const std::string& text);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_COUNTER_METHODS_H_
