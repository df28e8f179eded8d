// The control socket's method that lists partitions.
#ifndef IBEMU_DAEMON_SUBNET_PARTITION_METHODS_H_
#define IBEMU_DAEMON_SUBNET_PARTITION_METHODS_H_

#include <cstddef>

#include "absl/status/statusor.h"
#include "control/method_table.h"
#include "fabric/fabric.h"

namespace ibemu::daemon {

// A PartitionMethods tells which hosts' ports are in which partition, by their
// P_Key tables (IBA vol 1 §10.9).
class PartitionMethods {
 public:
  static constexpr size_t kMax = 8;

  // `fabric` must outlive this.
  explicit PartitionMethods(const fabric::Fabric& fabric) : fabric_(fabric) {}

  // Adds partitions: {"partitions": [{"p_key": "0x8001",
  //   "full": [["0x0002c90300000001", 1]], "limited": [...]}]: those with most
  //   ports, by the GUID of their node and their number; kMax at most, not the
  //   default partition,
  //   "others": how many there are beside them}.
  // This must outlive `dispatcher`'s last call.
  void AddTo(control::MethodTable& dispatcher);

 private:
  absl::StatusOr<nlohmann::json> Show(control::Parameters& parameters) const;

  const fabric::Fabric& fabric_;
};

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_PARTITION_METHODS_H_
