// Width and speed of links.
#ifndef IBEMU_FABRIC_SUBNET_LINK_RATE_H_
#define IBEMU_FABRIC_SUBNET_LINK_RATE_H_

#include "mad/wire/port_info.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// What two ports agree on: the widest width and the fastest speed that both
// support and have enabled, one bit each.  Beside an extended speed, `speed` is
// the fastest common basic one, as LinkSpeedActive has it; of the extended ones
// only that in use is set.
struct NegotiatedRate {
  uint8_t width = 0;  // 0: nothing in common, the link stays down
  uint8_t speed = 0, speed_ext = 0, speed_ext2 = 0;
};
NegotiatedRate Negotiate(const mad::PortInfo& a, const mad::PortInfo& b);

// The width and speed that a port without a link shows: the slowest.
void SetDownRate(mad::PortInfo& info);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_LINK_RATE_H_
