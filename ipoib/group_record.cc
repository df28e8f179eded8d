#include "ipoib/group_record.h"

#include "ipoib/multicast_gid.h"

namespace ibemu::ipoib {

mad::McMemberRecord GroupLike(const mad::McMemberRecord& broadcast,
                              const wire::IpAddress& address,
                              const wire::Gid& port, uint8_t join_state) {
  return {.mgid = GroupGid(address, broadcast.mgid),
          .port_gid = port,
          .q_key = broadcast.q_key,
          .mtu_selector = mad::Selector::kExactly,
          .mtu = broadcast.mtu,
          .traffic_class = broadcast.traffic_class,
          .p_key = broadcast.p_key,
          .rate_selector = mad::Selector::kExactly,
          .rate = broadcast.rate,
          .sl = broadcast.sl,
          .flow_label = broadcast.flow_label,
          .hop_limit = broadcast.hop_limit,
          .join_state = join_state};
}

}  // namespace ibemu::ipoib
