// MulticastJoin: the membership of an id in a multicast group.
#ifndef IBEMU_RDMA_CM_MULTICAST_JOIN_H_
#define IBEMU_RDMA_CM_MULTICAST_JOIN_H_

#include <cstdint>
#include <functional>
#include <memory>

#include "mad/wire/sa_services.h"
#include "rdma_cm/host/connection_watcher.h"
#include "rdma_cm/host/local_port.h"
#include "rdma_cm/values/event.h"
#include "rdma_cm/values/port_space.h"
#include "rdma_cm/values/socket_address.h"

namespace ibemu::rdma_cm {

// Returns the MGID of a group (cma_set_mgid()); 0 leaves the choice to the SA.
wire::Gid GroupGidOf(const SocketAddress& group, const wire::Gid& broadcast,
                     PortSpace space);

// A MulticastJoin tells when the membership has begun (kMulticastJoin), and
// when it could not or has ended (kMulticastError).  Destroying it leaves the
// group.
class MulticastJoin {
 public:
  struct Terms {
    SocketAddress group{};
    uint8_t join_state = mad::kFullMember;
    uint32_t qkey = 0;
    PortSpace space{};
  };
  // Calls `told`, never before this returns.  `broadcast` is the record of the
  // port's IPoIB broadcast group, from which the rest comes.
  MulticastJoin(const LocalPort& port, const mad::McMemberRecord& broadcast,
                const Terms& terms, std::function<void(Event)> told);
  ~MulticastJoin();
  MulticastJoin(const MulticastJoin&) = delete;
  MulticastJoin& operator=(const MulticastJoin&) = delete;

 private:
  void OnChange(const absl::StatusOr<mad::McMemberRecord>& record);

  // Tells who watches the adapter's ids.
  void Report(GroupNews::State state, int status = 0) const;

  const LocalPort port_;
  const SocketAddress group_;
  wire::Gid mgid_{};  // 0 until the SA has chosen it
  bool is_member_ = false;
  const uint32_t qkey_;
  const std::function<void(Event)> told_;
  std::unique_ptr<mad::MulticastMembership> membership_;
};

}  // namespace ibemu::rdma_cm

#endif  // IBEMU_RDMA_CM_MULTICAST_JOIN_H_
