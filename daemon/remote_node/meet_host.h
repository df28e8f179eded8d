// MeetThrough: the connection to a daemon that one has a lease with.
#ifndef IBEMU_DAEMON_REMOTE_NODE_MEET_HOST_H_
#define IBEMU_DAEMON_REMOTE_NODE_MEET_HOST_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/unique_fd.h"
#include "base/worker_pool.h"
#include "daemon/remote_node/authority.h"
#include "daemon/remote_node/leases/host_leases.h"
#include "loop/loop.h"

namespace ibemu::daemon {

// Returns a HostLeases::Meet that calls "lease.meet" of the daemon that has the
// subnet (MeetingPoint), or between machines of ibemu-peers (LeasePort). `loop`
// and `workers` must outlive it.
HostLeases::Meet MeetThrough(Loop& loop, WorkerPool& workers,
                             std::shared_ptr<const Authority> authority);

// Returns a JoinedPackets::AskAgain that calls "packets.again" of our
// ibemu-peers (SubnetProxy).  Both must outlive it.
std::function<void(const std::string& first, uint32_t number,
                   HostLeases::Met met)>
AskForPacketsThrough(Loop& loop, WorkerPool& workers,
                     std::shared_ptr<const Authority> authority);

// Waits, for ten seconds at most, for the descriptor of a connection that is
// sent by `line`, and calls `met` from the loop.  `loop` must outlive that.
void AwaitConnection(Loop& loop, UniqueFd line, HostLeases::Met met);

}  // namespace ibemu::daemon

#endif  // IBEMU_DAEMON_REMOTE_NODE_MEET_HOST_H_
