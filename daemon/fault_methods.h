// The control socket's methods for faults of links.
#ifndef IBEMU_DAEMON_FAULT_METHODS_H_
#define IBEMU_DAEMON_FAULT_METHODS_H_

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "daemon/fault_words.h"
#include "daemon/rpc.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// Faults have names, and stay until they are removed by them.
class FaultMethods {
 public:
  static constexpr size_t kMostFaults = 500;  // a list of them is one line

  // `fabric` must outlive this.
  explicit FaultMethods(fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds fault.add, fault.list, fault.remove and fault.reset.  This must
  // outlive `dispatcher`'s last call.
  void AddTo(Dispatcher& dispatcher);

 private:
  struct Fault {
    FaultRequest request;
    fabric::NodeId node{};
    std::optional<fabric::FaultId> transmit, receive;
  };

  absl::StatusOr<nlohmann::json> Add(Parameters& parameters);
  absl::StatusOr<nlohmann::json> List(Parameters& parameters) const;
  absl::StatusOr<nlohmann::json> Remove(Parameters& parameters);
  absl::StatusOr<nlohmann::json> Reset(Parameters& parameters);

  std::string FreeName() const;
  nlohmann::json Describe(std::string_view name, const Fault& fault) const;
  void TakeOut(const Fault& fault);

  fabric::Fabric& fabric_;
  std::map<std::string, Fault, std::less<>> faults_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_FAULT_METHODS_H_
