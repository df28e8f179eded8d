// LinkTraffic: packets that cross a link, for the counters of its ports.
#ifndef IBEMU_FABRIC_FORWARDING_LINK_TRAFFIC_H_
#define IBEMU_FABRIC_FORWARDING_LINK_TRAFFIC_H_

#include <cstdint>

#include "fabric/subnet/node.h"

namespace ibemu::fabric {

// A LinkTraffic is some packets that are treated alike, on one link.
struct LinkTraffic {
  uint64_t packets = 0;
  uint64_t words = 0;  // of 4 bytes, from LRH to ICRC, of all packets
  uint8_t sl = 0;
  uint8_t vl = 0;  // meaningless for VL15
  bool vl15 = false;
  bool multicast = false;
};

// Adds packets that leave through `port`, or enter, to its counters.
void CountXmit(NodePort& port, const LinkTraffic& traffic);
void CountRcv(NodePort& port, const LinkTraffic& traffic);

}  // namespace ibemu::fabric

#endif  // IBEMU_FABRIC_FORWARDING_LINK_TRAFFIC_H_
