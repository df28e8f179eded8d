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
#include "daemon/remote_node/authority.h"
#include "daemon/remote_node/joined_host.h"
#include "fabric/fabric.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// A JoinedFabric has the hosts that were joined, and beside each a node that
// stands for the rest of the subnet.
struct JoinedFabric {
  std::unique_ptr<fabric::Fabric> fabric;
  std::unique_ptr<WorkerPool> plugging;  // hosts in again; they end before it
  std::unique_ptr<WorkerPool> meeting;   // other hosts, that have leases
  std::vector<std::unique_ptr<JoinedHost>> hosts;
  AddressPlan addresses;
  uint64_t seed = 0;  // of faults, and of what else happens by chance
};

// The host that stands for one that nobody uses, whichever.
inline constexpr char kAnyHost[] = "any";

// Takes the place of the adapters of `hosts` in the subnet of `authority`.
// `loop` must outlive the result.  The seed is what the authority has for the
// first of them, so with its seed and the same hosts all happens alike; of an
// older one, which has none, it is `drawn_seed`.
//
// Errors: Authority::Connect()'s, those of "node.status" and
// "node_link.attach"; InvalidArgument, a host twice, or one that has several
// adapters; FailedPrecondition, no host is free for kAnyHost.
absl::StatusOr<JoinedFabric> JoinFabric(
    Loop& loop, const std::shared_ptr<const Authority>& authority,
    const std::vector<std::string>& hosts, uint64_t drawn_seed);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_JOIN_FABRIC_H_
