// AdapterFault: a fault of queue pairs or of calls, on one adapter.
#ifndef IBEMU_DAEMON_SUBNET_ADAPTER_FAULT_H_
#define IBEMU_DAEMON_SUBNET_ADAPTER_FAULT_H_

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "daemon/words/fault_words.h"
#include "fabric/fabric.h"
#include "fabric/soft_hca/adapter_faults.h"
#include "nlohmann/json_fwd.hpp"

namespace ibemu::daemon {

// A fault of a place kQueuePair, kHost or kProcess that is in the fabric as
// long as this object lives.  `node` is of no account at kProcess.
class AdapterFault {
 public:
  // Returns OK if the node has what such a fault needs: also later, when the
  // queue pair may be another.  REQUIRES: it is none of kProcess.
  //
  // Errors: FailedPrecondition, NotFound.
  static absl::Status CheckNode(const fabric::Fabric& fabric,
                                topology::NodeId node,
                                const FaultRequest& request);
  // Returns OK if the queue pair is there, and the fault can happen to it.
  //
  // Errors: the same.
  static absl::Status CheckQueuePair(const fabric::Fabric& fabric,
                                     topology::NodeId node,
                                     const FaultRequest& request);

  // Does what the request asks to be done once.  `name`: the fault's, for
  // histories.  REQUIRES: it does (FaultAct), and was checked.
  //
  // Errors: FailedPrecondition, if it can't be done now.
  static absl::Status Act(fabric::Fabric& fabric, topology::NodeId node,
                          const FaultRequest& request, std::string_view name);

  // `fabric` must outlive this object.  `name`: as above.  REQUIRES: the
  // request was checked, and is none for Act().
  AdapterFault(fabric::Fabric& fabric, topology::NodeId node,
               const FaultRequest& request, std::string_view name,
               const fabric::FaultChance& chance);
  ~AdapterFault();
  AdapterFault(const AdapterFault&) = delete;
  AdapterFault& operator=(const AdapterFault&) = delete;

  // Adds the numbers that packets have from it.
  void AddNumbers(std::vector<uint32_t>& numbers) const;

  // Adds what it has done so far: "tx" and "rx" of packets, "acts" of others.
  void DescribeCounts(nlohmann::json& description) const;

 private:
  fabric::AdapterFaults& faults_;
  std::optional<fabric::QueuePairFaultId> sent_, received_;
  std::optional<fabric::AdapterFaultId> requests_, resource_, events_;
};

// {"packets": 5, "lost": 1 ...}
nlohmann::json DescribeFaultCounts(const fabric::FaultCounts& counts);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_SUBNET_ADAPTER_FAULT_H_
