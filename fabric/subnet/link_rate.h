// Functions for the width and speed of links.
#ifndef IBEMU_FABRIC_SUBNET_LINK_RATE_H_
#define IBEMU_FABRIC_SUBNET_LINK_RATE_H_

#include "mad/wire/port_info.h"
#include "topology/topology.h"

namespace ibemu::fabric {

// The rate that two ports agree on: the widest width and the fastest speed that
// both support and have enabled, one bit each.  With an extended speed, `speed`
// is the fastest common basic speed, as in LinkSpeedActive; of the extended
// speeds only the one in use is set.
struct NegotiatedRate {
  uint8_t width = 0;  // 0: nothing in common, so the link stays down
  uint8_t speed = 0, speed_ext = 0, speed_ext2 = 0;
};
NegotiatedRate Negotiate(const mad::PortInfo& a, const mad::PortInfo& b);

// Sets the width and speed that a port without a link shows: the slowest ones.
void SetDownRate(mad::PortInfo& info);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_SUBNET_LINK_RATE_H_
