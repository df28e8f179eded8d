// Hosts of another daemon's fabric, as a fabric of their own.
#ifndef IBEMU_DAEMON_REMOTE_NODE_JOIN_FABRIC_H_
#define IBEMU_DAEMON_REMOTE_NODE_JOIN_FABRIC_H_

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "base/worker_pool.h"
#include "daemon/addresses/address_plan.h"
#include "daemon/remote_node/joined_host.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A JoinedFabric has the hosts that were joined, and beside each a node that
// stands for the rest of the subnet.
struct JoinedFabric {
  std::unique_ptr<fabric::Fabric> fabric;
  std::unique_ptr<WorkerPool> plugging;  // hosts in again; they end before it
  std::vector<std::unique_ptr<JoinedHost>> hosts;
  AddressPlan addresses;
};

// Takes the place of the adapters of `hosts` in the fabric that the daemon
// `authority` has, a name or the path of its socket.  `loop` must outlive the
// result.  `seed`: of faults here.
//
// Errors: Client::Connect()'s, those of "node.status" and "wire.attach";
// InvalidArgument, a host twice, or one that has several adapters.
absl::StatusOr<JoinedFabric> JoinFabric(Loop& loop,
                                        const std::string& authority,
                                        const std::vector<std::string>& hosts,
                                        uint64_t seed);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_JOIN_FABRIC_H_
