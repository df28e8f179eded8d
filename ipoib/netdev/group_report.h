// GroupReport: a kernel's report on a multicast group that it listens to.
#ifndef IBEMU_IPOIB_NETDEV_GROUP_REPORT_H_
#define IBEMU_IPOIB_NETDEV_GROUP_REPORT_H_

#include <optional>
#include <vector>

#include "ipoib/netdev/ip_packet.h"
#include "wire/ip_address.h"

namespace ibemu::ipoib {

// A GroupReport says of one group whether somebody listens to it from now on.
struct GroupReport {
  wire::IpAddress group;
  bool listens = false;

  bool operator==(const GroupReport&) const = default;
};

// Returns what a report of IGMP (RFC 1112, 2236, 3376) or MLD (RFC 2710, 3810)
// says, which sources do not matter to; std::nullopt if `packet` is none.
std::optional<std::vector<GroupReport>> ReadGroupReports(
    const IpPacket& packet);

}  // namespace ibemu::ipoib

#endif  // IBEMU_IPOIB_NETDEV_GROUP_REPORT_H_
